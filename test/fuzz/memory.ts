import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes that are held after garbage has been collected: objects, buffers and WebAssembly. */
export async function heldMemory(): Promise<number> {
  // What is behind objects of Node itself goes in a later turn.
  for (let turn = 0; turn < 3; turn++) {
    collectGarbage();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most bytes that the process has ever had resident. */
export function peakMemory(): number {
  return process.resourceUsage().maxRSS * 1024;
}
