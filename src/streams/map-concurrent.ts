import { TransformStream } from "./web.ts";

export interface MapConcurrentOptions {
  /** The most items that are started and not yet taken by the reader. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** `cancel` is in the standard since 2023 and in Node since 20.14, but not in TypeScript's library. */
interface CancellableTransformer<I, O> extends Transformer<I, O> {
  cancel(reason: unknown): Promise<void>;
}

/**
 * The one concurrent stage: runs `fn` on up to `concurrency` items at a time and passes results on as they settle,
 * in no particular order (`reorder` is a stage of its own).
 *
 * The first failure wins: the signal that the other calls were given is aborted with it, and when they have ended
 * the stream errors with that very error. Cancelling the readable side, aborting the writable one or aborting
 * `signal` does the same with its reason, so no call ever outlives the stream.
 */
export function mapConcurrent<I, O>(
  fn: (item: I, context: { readonly signal: AbortSignal }) => Promise<O> | O,
  { concurrency, signal }: MapConcurrentOptions,
): TransformStream<I, O> {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  let slotFreed = () => {};
  let onAbort = () => {};

  const end = (reason: unknown) => {
    signal?.removeEventListener("abort", onAbort);
    if (!stop.signal.aborted) stop.abort(reason);
    slotFreed();
  };

  const transformer: CancellableTransformer<I, O> = {
    start(controller) {
      onAbort = () => {
        end(signal?.reason);
        if (running.size === 0) controller.error(signal?.reason);
      };
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    },
    async transform(item, controller) {
      if (stop.signal.aborted) return;
      const call = async () => {
        try {
          const result = await fn(item, { signal: stop.signal });
          if (!stop.signal.aborted) controller.enqueue(result);
        } catch (error) {
          end(error);
        }
      };
      const settled: Promise<void> = call().then(() => {
        running.delete(settled);
        slotFreed();
        if (stop.signal.aborted && running.size === 0) controller.error(stop.signal.reason);
      });
      running.add(settled);
      while (running.size >= concurrency && !stop.signal.aborted) {
        await new Promise<void>((resolve) => (slotFreed = resolve));
      }
    },
    async flush() {
      await Promise.all(running);
      signal?.removeEventListener("abort", onAbort);
    },
    async cancel(reason) {
      end(reason);
      await Promise.all(running);
    },
  };
  return new TransformStream<I, O>(transformer, { highWaterMark: 1 }, { highWaterMark: 0 });
}
