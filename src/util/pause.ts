import { abortError, onAbort, throwIfAborted } from "./abort.ts";

/** Waits for a number of milliseconds. @throws `aborted` if the signal is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, milliseconds);
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      reject(abortError(signal?.reason));
    });
  });
}

/** True if threads can share memory; pages can only if they are isolated (`crossOriginIsolated`). */
export function isMemoryShared(): boolean {
  return typeof SharedArrayBuffer === "function";
}

/** Polling interval in runtimes without `Atomics.waitAsync`. */
const LOOK_AGAIN_MS = 1;
/** Longest time that one wait takes. */
const LONGEST_MS = 100;

/**
 * Waits until a counter in shared memory differs from `seen`, or for a moment. Writers must call `Atomics.notify`.
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
