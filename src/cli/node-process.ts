import { readFileSync } from "node:fs";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { FlowEvent } from "../run/events.ts";

/** The default interrupt budget of V8 11, and one fifteen times as large. */
const USUAL = 67_584;
const LATER = 1_000_000;

/** Milliseconds after which a command that makes requests gains from compiling the code of each request. */
const LONG = 1000;

/**
 * Bytes of the main thread's young generation at which its growth stops: V8 reports 4 MB for three semi-spaces of 2 MB.
 * Workers have as much.
 */
const YOUNG = 4 * 2 ** 20;

let budget = USUAL;
let isEnded = false;
let isYoungBounded = false;

/** Sets flags of V8 as a run proceeds. */
export function followRun({ type }: FlowEvent): void {
  // Threads are started between these two events.
  if (type === "plan") optimizeLater("off");
  if (type !== "task-start" && type !== "progress") return;
  optimizeLater("on");
  boundYoung();
}

/**
 * Stops the growth of the young generation. In a long run V8 doubles it up to 32 MB (128 MB in Node 24), although
 * hardly any object outlives a chunk. Pieces of responses are in it, too.
 */
function boundYoung(): void {
  if (isYoungBounded) return;
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  if (young === undefined || young.space_size < YOUNG) return;
  isYoungBounded = true;
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Makes V8 run code fifteen times as long before it compiles it for speed, in all threads. The kernels, which take most
 * of the time, are compiled already. For the gain see `bench/history/2026-11.md`, "V8's budget".
 *
 * With another budget, V8 cannot use Node's code cache, and compiles Node's own scripts when they are loaded. So this
 * is called after the command is loaded, and is `off` while threads start: each would take 30 ms longer.
 *
 * Only V8 11 (Node 20) has this flag. Later versions count calls, and a higher count gains nothing.
 */
export function optimizeLater(how: "on" | "off"): void {
  const wanted = how === "on" && !isEnded ? LATER : USUAL;
  if (wanted === budget || !process.versions.v8.startsWith("11.")) return;
  budget = wanted;
  setFlagsFromString(`--interrupt-budget=${wanted}`);
}

/**
 * Restores V8's own budget after a second, for commands that make requests to servers. Each request runs much code of
 * Node and of ours, which takes twice the time until it is compiled.
 */
export function optimizeRequests(): void {
  const end = () => {
    isEnded = true;
    optimizeLater("off");
  };
  setTimeout(end, LONG).unref();
}

/** The peak resident memory of this process so far, in bytes. */
export function peakMemory(): number {
  return highWaterMark() ?? process.resourceUsage().maxRSS * 1024;
}

/** Linux's own count, which excludes the memory that the parent process had before this one was started. */
function highWaterMark(): number | undefined {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
