import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder that is removed after the tests of this file, and a new path in it at each call. */
export function temporaryFolder(): { readonly path: string; next(name?: string): string } {
  let made: string | undefined;
  let count = 0;
  // Made when it is asked for: a run that leaves out the tests of a file leaves no folder behind either.
  const path = () => {
    made ??= mkdtempSync(join(tmpdir(), "zarrflow-test-"));
    return made;
  };
  afterAll(() => {
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
  });
  return {
    get path() {
      return path();
    },
    next: (name = "store") => join(path(), `${count++}`, name),
  };
}
