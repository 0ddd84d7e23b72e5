import { ZarrflowError } from "../../../util/errors.ts";

/** How long no thread may do anything: no task of any size takes so long between two calls of its stores. */
const PATIENCE_MS = 30 * 60_000;
/** It is looked at so often in that time: a process that was asleep looks once more before it gives up. */
const LOOKS = 30;

/**
 * Watches whether threads that are waited for still do something.
 *
 * @param progress a number that changes with whatever they do; undefined while nobody waits for them
 * @param onHang called once with the error, when it has not changed for too long
 * @returns what ends the watch
 */
export function watchThreads(
  progress: () => number | undefined,
  onHang: (error: ZarrflowError) => void,
  patience = PATIENCE_MS,
): () => void {
  let last: number | undefined;
  let looks = 0;
  const timer = setInterval(() => {
    const now = progress();
    looks = now === undefined || now !== last ? 0 : looks + 1;
    last = now;
    if (looks < LOOKS) return;
    clearInterval(timer);
    onHang(
      new ZarrflowError("transient", "a worker thread hangs: it has made no progress for too long", {
        expected: `progress within ${Math.ceil(patience / 60_000)} minutes`,
        hint: "Run again with one thread (--threads 1).",
      }),
    );
  }, patience / LOOKS);
  // Threads that are waited for keep the process.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
