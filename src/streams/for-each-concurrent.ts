import { abortError, onAbort, RequestEnd } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";

export interface ForEachOptions {
  /** The most calls that run at one time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `fn` on each item, up to `concurrency` at a time, and resolves when all calls have ended. Items are drawn one by
 * one when they are needed. Use `mapConcurrent` for calls that return results.
 *
 * @throws the first failure, or `aborted`, once all other calls (whose signals are aborted) and the iterator have
 *   ended; `invalid-option` for a concurrency below 1.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  fn: (item: T, context: { readonly signal: AbortSignal }) => Promise<void> | void,
  { concurrency, signal }: ForEachOptions,
): Promise<void> {
  if (!(concurrency >= 1)) {
    throw new ZarrflowError("invalid-option", "concurrency must be at least 1", { found: concurrency });
  }
  /** Each call has its own signal: runtimes warn of leaks when many listeners share one. */
  const running = new Map<Promise<void>, RequestEnd>();
  const stop = new AbortController();
  const fail = (reason: unknown) => {
    if (stop.signal.aborted) return;
    stop.abort(reason);
    for (const call of running.values()) call.abort(reason);
  };
  const abort = () => fail(abortError(signal?.reason));
  const stopListening = onAbort(signal, abort);
  if (signal?.aborted) abort();
  let onEnded = () => {};
  const call = async (item: T, end: RequestEnd) => {
    try {
      await fn(item, end);
    } catch (error) {
      fail(error);
    }
  };
  const start = (item: T) => {
    const end = new RequestEnd();
    // Register the call before it starts, because it may abort the signal immediately.
    const ended: Promise<void> = Promise.resolve()
      .then(() => call(item, end))
      .then(() => {
        running.delete(ended);
        onEnded();
      });
    running.set(ended, end);
  };
  try {
    if (!stop.signal.aborted) {
      for await (const item of items) {
        if (stop.signal.aborted) break;
        start(item);
        while (running.size >= concurrency) await new Promise<void>((resolve) => (onEnded = resolve));
        if (stop.signal.aborted) break;
      }
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running.keys());
  stopListening();
  stop.signal.throwIfAborted();
}
