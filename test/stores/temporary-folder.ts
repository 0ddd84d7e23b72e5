import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A folder that is removed after the tests of this file, and a new path in it at each call. */
export function temporaryFolder(): { readonly path: string; next(name?: string): string } {
  const path = mkdtempSync(join(tmpdir(), "zarrflow-test-"));
  let count = 0;
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return {
    path,
    next: (name = "store") => join(path, `${count++}`, name),
  };
}
