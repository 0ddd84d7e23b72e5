// @module-tag slow
// @module-tag alone
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { command } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, MB, peakMemoryOfNode } from "./peak-memory.ts";

const folder = temporaryFolder();
const BILLION = { shape: [1e5, 1e5, 1e5], chunks: [100, 100, 100] };

describePeaks("an array of a billion chunks", () => {
  const args = () => {
    const path = join(folder.path, "large.zarr");
    mkdirSync(path, { recursive: true });
    const rest = { zarr_format: 2, dtype: "<f4", compressor: null, fill_value: 0, order: "C", filters: null };
    writeFileSync(join(path, ".zarray"), JSON.stringify({ ...BILLION, ...rest }));
    const out = join(folder.path, "out.zarr");
    return [command, "plan", "rechunk", path, out, "--chunks", "200,200,50", "--quiet"];
  };

  test("is planned in less than 100 MB", async () => {
    expect(await peakMemoryOfNode(...args(), "--output", join(folder.path, "plan.json"))).toBeLessThan(
      100 * MB,
    );
  });

  test("is simulated on 10,000 workers in less than 150 MB", async () => {
    expect(await peakMemoryOfNode(...args(), "--simulate", "--workers", "10000")).toBeLessThan(150 * MB);
  });
});
