import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { append } from "../../src/index.ts";
import { hasPython, runPython } from "./python.ts";

const folder = mkdtempSync(join(tmpdir(), "zarrflow-append-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.runIf(hasPython)(
  "what is appended is to xarray what its own to_zarr(append_dim=...) makes",
  async () => {
    const names = (await runPython("append_cases.py", "write", folder)) as string[];
    expect(names.length).toBe(24);
    for (const name of names) {
      const at = (place: string) => join(folder, name, place);
      await append(at("rest.zarr"), at("ours.zarr"), { dim: "time" });
    }
    expect(await runPython("append_cases.py", "compare", folder)).toEqual({});
  },
  300_000,
);
