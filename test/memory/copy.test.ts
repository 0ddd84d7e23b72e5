// @module-tag long
// @module-tag alone
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { makeRows } from "./made-sources.ts";
import { describePeaks, expectPeaks, MB, peakMemoryOf } from "./peak-memory.ts";

const folder = temporaryFolder();

describePeaks("peak resident memory of copies", () => {
  test.each([
    ["100,000 keys", 100_000, 16],
    ["256 MiB", 256, 2 ** 20],
  ])(
    "of %s from directory to directory, to zip, and back",
    async (name, rows, rowBytes) => {
      const [source, plain, zip, back] = ["a.zarr", "copy.zarr", "a.zip", "back.zarr"].map((file) =>
        join(folder.path, file),
      ) as [string, string, string, string];
      await makeRows(source, rows, rowBytes);
      for (const [what, from, to] of [
        ["to a directory", source, plain],
        ["to a zip", source, zip],
        ["of a zip", zip, back],
      ] as const) {
        await expectPeaks(`a copy of ${name} ${what}`, { peak: 150 * MB }, async () => {
          await rm(to, { recursive: true, force: true });
          return peakMemoryOf("copy", from, to);
        });
      }
      for (const path of [source, plain, zip, back]) await rm(path, { recursive: true });
    },
    300_000,
  );
});
