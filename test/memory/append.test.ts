// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openArray, slice } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOfNode } from "./peak-memory.ts";

/** Else the young generation of V8 grows by a leap of 16 MB when a process gets older, whatever it does. */
const FIXED_HEAP = ["--max-semi-space-size=4", "--expose-gc"];
const script = fileURLToPath(new URL("append-frames.mjs", import.meta.url));
const folder = temporaryFolder();

/** Appends so many frames of half a megabyte to a zip, and reads the last two back. */
async function append(count: number): Promise<number> {
  const target = folder.next("movie.zarr.zip");
  const peak = await peakMemoryOfNode(...FIXED_HEAP, script, `${target}/movie`, `${count}`);
  const movie = await openArray(`${target}/movie`);
  expect(movie.shape).toEqual([count, 256, 512]);
  const { data } = await slice(movie, { time: [count - 2, null], y: 0, x: 0 }).read();
  expect([...data]).toEqual([count - 2, count - 1]);
  await movie.store.close?.();
  await rm(target);
  return peak;
}

describePeaks("peak resident memory of frames appended to a zip", () => {
  test("does not grow with their number", async () => {
    await expectPeaks(
      "1000 and 4000 frames appended",
      { growth: 15 * MB },
      () => append(1000),
      () => append(4000),
    );
  }, 900_000);
});
