// @module-tag long
// @module-tag alone
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

const folder = temporaryFolder();

/** Cuts 1024 steps of so many bands into series. */
async function rechunk(source: string, bands: number, ...more: readonly string[]): Promise<number> {
  const target = join(folder.path, "series.zarr");
  const how = ["--chunks", "-1,16,16", "--max-mem", "128MB", ...more];
  const peak = await peakMemoryOf("rechunk", source, target, ...how);
  expect((await readdir(target)).filter((name) => /^\d/.test(name))).toHaveLength(bands * 16 * 32);
  await rm(target, { recursive: true });
  return peak;
}

describePeaks("peak resident memory of a rechunk within 128 MB", () => {
  test("does not grow with the array, 512 MiB or 1 GiB", async () => {
    const [half, whole] = [
      await makeSteps(join(folder.path, "half.zarr"), 1024, 1),
      await makeSteps(join(folder.path, "whole.zarr"), 1024, 2),
    ];
    await expectPeaks(
      "a rechunk of 512 MiB and 1 GiB",
      { peak: (128 + 120) * MB, growth: 10 * MB },
      () => rechunk(half, 1),
      () => rechunk(whole, 2),
    );
  }, 900_000);

  test("is as large where values are converted", async () => {
    const source = await makeSteps(join(folder.path, "converted.zarr"), 1024, 1);
    const module = join(folder.path, "celsius.mjs");
    await writeFile(module, "export default ({ data }) => data.map((kelvin) => kelvin - 273.15);\n");
    for (const flags of [
      ["--dtype", "float64"],
      ["--map", module],
    ]) {
      await expectPeaks(`a rechunk with ${flags[0]}`, { peak: (128 + 120) * MB }, () =>
        rechunk(source, 1, ...flags),
      );
    }
  }, 900_000);
});
