import { pause } from "./pause.ts";

/** Without `Atomics.waitAsync` a counter is looked at so often. */
const LOOK_AGAIN_MS = 1;
/** A wait ends after so long in any case. */
const LONGEST_MS = 100;

/**
 * Waits while a counter in shared memory has the value `seen`, or a moment; whoever changes it calls `Atomics.notify`.
 *
 * @param keepsThread whether the wait keeps its thread alive, which `Atomics.waitAsync` alone does not
 */
export async function counterChange(
  counters: Int32Array,
  place: number,
  seen: number,
  keepsThread = true,
): Promise<void> {
  if (typeof Atomics.waitAsync !== "function") return pause(LOOK_AGAIN_MS);
  const change = Atomics.waitAsync(counters, place, seen, LONGEST_MS);
  if (!change.async) return;
  const alive = keepsThread ? setInterval(() => {}, LONGEST_MS) : undefined;
  try {
    await change.value;
  } finally {
    clearInterval(alive);
  }
}
