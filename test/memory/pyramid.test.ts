// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openArray } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeSteps } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

const folder = temporaryFolder();
const LIMITS = { peak: (32 + 120) * MB, growth: 15 * MB };
/** A run of 8 s has not warmed up: one of 28 s took 22 MB more, and one of 70 s, of 1.5 GiB, 3 MB more than that. */
const OF_PYRAMIDS = { ...LIMITS, growth: 30 * MB };

/** Makes five levels of steps of so many bands. */
async function pyramid(source: string): Promise<number> {
  const target = join(folder.path, "pyramid.zarr");
  const peak = await peakMemoryOf("pyramid", source, target, "--levels", "5", "--max-mem", "32MB");
  const [whole, last] = [await openArray(source), await openArray(`${target}/4`)];
  expect(last.shape).toEqual(whole.shape.map((n, d) => (d === 0 ? n : Math.ceil(n / 16))));
  await rm(target, { recursive: true });
  return peak;
}

/** Appends an array to one of 8 steps. */
async function append(source: string, bands: number): Promise<number> {
  const target = await makeSteps(join(folder.path, `few-${bands}.zarr`), 8, bands);
  const peak = await peakMemoryOf("append", source, target, "--dim", "time", "--max-mem", "32MB");
  expect((await openArray(target)).shape[0]).toBe(128 + 8);
  await rm(target, { recursive: true });
  return peak;
}

describePeaks("peak resident memory within 32 MB", () => {
  test("does not grow with the array, 128 or 512 MiB, of a pyramid or an append", async () => {
    const [low, small, large] = [
      await makeSteps(join(folder.path, "low.zarr"), 32, 8),
      await makeSteps(join(folder.path, "small.zarr"), 128, 2),
      await makeSteps(join(folder.path, "large.zarr"), 128, 8),
    ];
    await expectPeaks(
      "a pyramid of 128 and 512 MiB",
      OF_PYRAMIDS,
      () => pyramid(low),
      () => pyramid(large),
    );
    await expectPeaks(
      "128 and 512 MiB appended",
      LIMITS,
      () => append(small, 2),
      () => append(large, 8),
    );
  }, 900_000);
});
