// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openArray } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOfNode } from "./peak-memory.ts";

const script = fileURLToPath(new URL("stages.mjs", import.meta.url));
const folder = temporaryFolder();

/** Rechunks so many frames of a megabyte through a stage that changes them. */
async function rechunk(count: number): Promise<number> {
  const place = folder.next("stages");
  const peak = await peakMemoryOfNode("--max-semi-space-size=4", "--expose-gc", script, place, `${count}`);
  const target = await openArray(`${place}/target.zarr`);
  const { data } = await target.slice([[count - 2, null], 4, [0, 2]]).read();
  expect([...data]).toEqual([count, count - 1, count + 1, count]);
  await rm(place, { recursive: true });
  return peak;
}

describePeaks("peak resident memory of stages between two grids", () => {
  test("does not grow with the array", async () => {
    await expectPeaks(
      "64 and 192 frames through stages",
      { peak: 130 * MB, growth: 15 * MB },
      () => rechunk(64),
      () => rechunk(192),
    );
  }, 900_000);
});
