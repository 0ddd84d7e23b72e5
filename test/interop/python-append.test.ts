import { join } from "node:path";
import { expect, test } from "vitest";
import { append } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

test.runIf(hasPython)(
  "what is appended is to xarray what its own to_zarr(append_dim=...) makes",
  async () => {
    const names = (await runPython("append_cases.py", "write", folder.path)) as string[];
    expect(names.length).toBe(24);
    for (const name of names) {
      const at = (place: string) => join(folder.path, name, place);
      await append(at("rest.zarr"), at("ours.zarr"), { dim: "time" });
    }
    expect(await runPython("append_cases.py", "compare", folder.path)).toEqual({});
  },
  300_000,
);
