// @module-tag long
// @module-tag alone
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { command } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, expectPeaks, peakMemoryOfNode } from "./peak-memory.ts";

const folder = temporaryFolder();
const [FEW, MANY] = [500, 2500];
/** Measured: 24 kB for each array, most of it what garbage collection leaves. */
const BYTES_AN_ARRAY = 35_000;

function hierarchy(arrays: number): string {
  const path = join(folder.path, `${arrays}.zarr`);
  const array = { zarr_format: 2, shape: [8], chunks: [8], dtype: "<f4", compressor: null };
  const document = JSON.stringify({ ...array, fill_value: 0, order: "C", filters: null });
  mkdirSync(path);
  writeFileSync(join(path, ".zgroup"), '{"zarr_format": 2}');
  for (let i = 0; i < arrays; i++) {
    mkdirSync(join(path, `a${i}`));
    writeFileSync(join(path, `a${i}`, ".zarray"), document);
    writeFileSync(join(path, `a${i}`, "0"), new Uint8Array(32));
  }
  return path;
}

describePeaks("a hierarchy of many arrays", () => {
  test("takes 35 kB for each array more, when it is planned, run and finished", async () => {
    const runs = [FEW, MANY].map((arrays) => {
      const source = hierarchy(arrays);
      let round = 0;
      return async () => {
        const [target, plan] = [`${source}-out-${round}.zarr`, `${source}-${round++}.json`];
        const peaks = [
          await peakMemoryOfNode(command, "plan", "convert", source, target, "--to", "v3", "--output", plan),
          await peakMemoryOfNode(command, "run", plan, "--task-index", "0", "--task-count", "1"),
          await peakMemoryOfNode(command, "finish", plan),
        ];
        return Math.max(...peaks);
      };
    });
    await expectPeaks(`${FEW} and ${MANY} arrays`, { growth: (MANY - FEW) * BYTES_AN_ARRAY }, ...runs);
  }, 300_000);
});
