import { abortError, onAbort } from "../util/abort.ts";
/** Runs a step after the reads that are requested in the current turn of the event loop. */
export const soon: (step: () => void) => void = globalThis.setImmediate ?? ((step) => setTimeout(step, 0));

interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly reject: (reason: unknown) => void;
}

/**
 * Reads once for several waiting callers. The promise of a caller that aborts is rejected immediately. When all have
 * aborted, the read is aborted too, or never started.
 *
 * @throws the errors of `read`; the reason of the last caller that aborted.
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
