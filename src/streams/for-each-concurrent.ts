import { abortError, onAbort, RequestEnd } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";

export interface ForEachOptions {
  /** The most calls at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `fn` on each item, on up to `concurrency` at a time; items are drawn one after the other, as they are wanted.
 * Resolves when all calls have ended. `mapConcurrent` is for calls whose results are passed on.
 *
 * @throws the first failure, or `aborted`, once the other calls, whose signals it aborts, and what draws the items have
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
  /** Each call has a signal of its own: runtimes warn of leaks when very many listen on one. */
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
    // It counts as running before it starts: what it does first may abort the signal.
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
