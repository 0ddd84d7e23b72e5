import { spawn } from "node:child_process";
import { describe, expect } from "vitest";
import { command, requireBuild } from "../built-package.ts";

export const MB = 1e6;

/** Where the system tells the peak of a process. */
export const describePeaks = describe.runIf(process.platform === "linux");

const MOST_ROUNDS = 7;

/** What peaks may be, in bytes. */
export interface PeakLimits {
  readonly peak?: number;
  /** How much more the last run may take than the first. */
  readonly growth?: number;
}

/**
 * Expects that runs keep within limits; each returns its peak, in bytes. Chance moves peaks, mostly upwards: buffers wait
 * for the garbage collector, and freed memory for the allocator. So the least of up to seven runs counts, or of what the
 * last takes more than the first, where one run of the first was lucky, the middle; they take turns, and end as soon as
 * the limits are kept.
 */
export async function expectPeaks(
  what: string,
  { peak = Number.POSITIVE_INFINITY, growth = Number.POSITIVE_INFINITY }: PeakLimits,
  ...runs: readonly (() => Promise<number>)[]
): Promise<void> {
  const peaks = runs.map((): number[] => []);
  let highest = Number.NaN;
  let added = Number.NaN;
  for (let round = 0; round < MOST_ROUNDS && !(highest < peak && added < growth); round++) {
    for (const [i, run] of runs.entries()) peaks[i]?.push(await run());
    const ascending = peaks.map((ofRun) => ofRun.toSorted((a, b) => a - b));
    const rise = (place: number) =>
      (ascending.at(-1)?.[place] ?? Number.NaN) - (ascending[0]?.[place] ?? Number.NaN);
    highest = Math.max(...ascending.map(([least = Number.NaN]) => least));
    added = Math.min(rise(0), rise(Math.floor(round / 2)));
  }
  const told = peaks.map((ofRun) => ofRun.map((bytes) => (bytes / MB).toFixed(1)).join(", "));
  console.log(`VmHWM of ${what}: ${told.join(" and ")} MB`);
  expect(highest).toBeLessThan(peak);
  expect(added).toBeLessThan(growth);
}

/** Tells VmHWM on file descriptor 3 when the process ends. */
const REPORT = `
import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => writeSync(3, readFileSync("/proc/self/status")));
`;

/** Runs the command and returns the most memory that its process had resident, in bytes (VmHWM). */
export function peakMemoryOf(...args: readonly string[]): Promise<number> {
  return peakMemoryOfNode(command, ...args, "--quiet");
}

/** The same of Node with these arguments, which run the built package. */
export function peakMemoryOfNode(...args: readonly string[]): Promise<number> {
  requireBuild();
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const child = spawn(process.execPath, ["--import", report, ...args], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  let status = "";
  child.stdio[3]?.on("data", (text) => {
    status += text;
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      const kilobytes = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
      if (code === 0 && kilobytes) resolve(Number(kilobytes) * 1024);
      else reject(new Error(`${args.join(" ")} ended with ${code}; status: ${status.slice(0, 100)}`));
    });
  });
}
