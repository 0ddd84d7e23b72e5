import { join } from "node:path";
import { expect, test } from "vitest";
import { openArray, rechunk, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { hasPython, runPython } from "./python.ts";

const folder = temporaryFolder();

async function valuesOf(url: string): Promise<number[]> {
  const { data } = await slice(await openArray(url)).read();
  return Array.from(data as ArrayLike<number>);
}

test.runIf(hasPython)(
  "arrays with the filters of netCDF-C are read, and rechunked",
  async () => {
    const arrays = (await runPython("nczarr_filters.py", folder.path)) as Record<string, number[]>;
    expect(Object.keys(arrays)).toContain("zlib-f4.zarr");
    for (const [name, values] of Object.entries(arrays)) {
      expect(await valuesOf(join(folder.path, name, "v")), name).toEqual(values);
      const target = join(folder.path, `rechunked-${name}`);
      await rechunk(join(folder.path, name), target, { chunks: { x: 700 } });
      expect(await valuesOf(join(target, "v")), name).toEqual(values);
    }
  },
  300_000,
);
