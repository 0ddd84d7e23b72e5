import { ZarrflowError } from "../../../util/errors.ts";

/** Maximum time without progress of any thread. No task takes that long between two calls of its stores. */
const PATIENCE_MS = 30 * 60_000;
/** Number of checks in that time. After the machine was asleep, one more check follows before the watch gives up. */
const LOOKS = 30;

/**
 * Watches threads for progress.
 *
 * @param progress a number that changes with any progress; undefined while nobody waits for the threads
 * @param onHang called once with an error after too long without progress
 * @returns a function that ends the watch
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
  // The timer need not keep the process alive: threads that somebody waits for do.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer);
}
