import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import type { FlowEvent } from "../flows/events.ts";

/** The budget of V8 11, and one that is fifteen times as large. */
const USUAL = 67_584;
const LATER = 1_000_000;

/** Milliseconds that a command runs before it gains by what requests run again and again being compiled. */
const LONG = 1000;

/** What young objects of the first thread may take, in bytes: V8 says 4 MB of three times 2. Those of workers have as much. */
const YOUNG = 4 * 2 ** 20;

let budget = USUAL;
let isEnded = false;
let isYoungBounded = false;

/** Sets V8's flags by what happens in a run. */
export function followRun({ type }: FlowEvent): void {
  // Threads are started between the two.
  if (type === "plan") optimiseLater("off");
  if (type !== "task-start" && type !== "progress") return;
  optimiseLater("on");
  boundYoung();
}

/**
 * Ends the growth of the place for young objects, which V8 doubles in a long run up to 32 MB, or 128 in Node 24, though
 * hardly any outlive a chunk. They hold pieces of answers, too.
 */
function boundYoung(): void {
  if (isYoungBounded) return;
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
  if (young === undefined || young.space_size < YOUNG) return;
  isYoungBounded = true;
  setFlagsFromString("--semi-space-growth-factor=1");
}

/**
 * Lets V8 run code fifteen times as long as it does by default before it compiles that for speed, in all threads. What
 * takes long here are kernels, which are compiled already. What it gains is in `bench/history/2026-11.md`, "V8's budget".
 *
 * While that holds, what Node has ready of its own scripts is of no use: those that are loaded are compiled anew. So it is
 * not done before the command is loaded, and is `off` while threads start, each of which takes 30 ms longer otherwise.
 *
 * V8 11 (Node 20) alone has the flag. Later ones count calls, and gain nothing by counting further.
 */
export function optimiseLater(how: "on" | "off"): void {
  const wanted = how === "on" && !isEnded ? LATER : USUAL;
  if (wanted === budget || !process.versions.v8.startsWith("11.")) return;
  budget = wanted;
  setFlagsFromString(`--interrupt-budget=${wanted}`);
}

/**
 * Ends that in a second, for a command that makes requests to servers: each runs much code of Node and of ours, which
 * takes twice the time where it is not compiled.
 */
export function optimiseRequests(): void {
  const end = () => {
    isEnded = true;
    optimiseLater("off");
  };
  setTimeout(end, LONG).unref();
}
