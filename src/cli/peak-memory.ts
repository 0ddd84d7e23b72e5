import { readFileSync } from "node:fs";

/** The most bytes that this process has had in memory so far. */
export function peakMemory(): number {
  return highWaterMark() ?? process.resourceUsage().maxRSS * 1024;
}

/** Linux's own count, which leaves out what the process's parent had before it was started. */
function highWaterMark(): number | undefined {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
