// @module-tag slow
// @module-tag alone
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { command } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { describePeaks, expectPeaks, MB, type PeakLimits, peakMemoryOfNode } from "./peak-memory.ts";

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

/** Runs that have these peaks, in MB; returns what was printed. */
async function judge(limits: PeakLimits, ...peaks: readonly (readonly number[])[]): Promise<string> {
  const print = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const runs = peaks.map((ofRun) => {
    const rest = [...ofRun];
    return async () => (rest.shift() ?? Number.NaN) * MB;
  });
  try {
    await expectPeaks("a run", limits, ...runs);
    return String(print.mock.calls[0]);
  } finally {
    print.mockRestore();
  }
}

test.each([
  ["one run of each, if it keeps them", { peak: 100 * MB, growth: 10 * MB }, [[90], [99]], "90.0 and 99.0"],
  [
    "another, while the growth is too large",
    { growth: 10 * MB },
    [
      [90, 91],
      [110, 99],
    ],
    "90.0, 91.0 and 110.0, 99.0",
  ],
  ["the least of three", { peak: 100 * MB }, [[120, 110, 99]], "120.0, 110.0, 99.0"],
])("limits are judged by %s", async (_, limits, peaks, told) => {
  expect(await judge(limits, ...peaks)).toBe(`VmHWM of a run: ${told} MB`);
});

test.each([
  ["a peak", { peak: 100 * MB }, [[101, 120, 101]]],
  [
    "the growth between the least peaks",
    { growth: 10 * MB },
    [
      [90, 95, 80],
      [100, 105, 92],
    ],
  ],
])("%s that is above in all three runs fails", async (_, limits, peaks) => {
  await expect(judge(limits, ...peaks)).rejects.toThrow("to be less than");
});
