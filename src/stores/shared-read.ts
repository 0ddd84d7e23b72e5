import { abortError, onAbort } from "../util/abort.ts";
/** Runs a step when all that is asked for now has been asked for. */
export const soon: (step: () => void) => void = globalThis.setImmediate ?? ((step) => setTimeout(step, 0));

/** One of those who wait for one read. */
interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads for several who wait. One that gives up is answered at once; when nobody waits any more, the read is given up,
 * or not begun.
 *
 * @throws what `read` throws; the reason of the one that gave up last.
 */
export async function readForAll<T>(
  waiters: readonly Waiter[],
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abandoned = new AbortController();
  let left = waiters.length;
  const stops = waiters.map(({ signal, reject }) => {
    const giveUp = () => {
      reject(abortError(signal?.reason));
      if (--left === 0) abandoned.abort(abortError(signal?.reason));
    };
    if (signal?.aborted) giveUp();
    return onAbort(signal, giveUp);
  });
  try {
    abandoned.signal.throwIfAborted();
    return await read(abandoned.signal);
  } finally {
    for (const stop of stops) stop();
  }
}
