import { abortError, onAbort } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { ReadableStream, type TransformStream, WritableStream } from "../util/web-streams.ts";

export interface MapConcurrentOptions<O = unknown> {
  /** The most items that are started and not yet taken by the reader. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with each result that nobody will read because the stream ended first. */
  readonly discard?: ((result: O) => void) | undefined;
}

const MAP_OPTIONS: OptionNames<MapConcurrentOptions> = { concurrency: true, signal: true, discard: true };

/**
 * Runs `fn` on up to `concurrency` items at a time and passes results on as they settle, in no particular order
 * (`reorder` restores it). Nothing starts before the first read.
 *
 * The first failure aborts the signals of the other calls; when these have ended, the stream errors with it. Canceling
 * the readable side or aborting the writable side does the same with the given reason. Aborting `signal` does so with
 * `aborted`, whose cause is the signal's reason. No call ever outlives the stream.
 *
 * This is a pair of streams rather than a `TransformStream`, which does not report a cancel once its input has closed,
 * nor an abort while a write is pending. The last calls could then not be stopped.
 *
 * @throws `invalid-option` for a concurrency below 1.
 */
export function mapConcurrent<I, O>(
  fn: (item: I, context: { readonly signal: AbortSignal }) => Promise<O> | O,
  options: MapConcurrentOptions<O>,
): TransformStream<I, O> {
  assertKnown(options, MAP_OPTIONS);
  const { concurrency, signal, discard = () => {} } = options;
  if (!(concurrency >= 1)) {
    throw new ZarrflowError("invalid-option", "concurrency must be at least 1", { found: concurrency });
  }
  const stop = new AbortController();
  /** Each call has its own signal: runtimes warn of leaks when many listeners share one. */
  const running = new Map<Promise<void>, AbortController>();
  const ready: O[] = [];
  let asked = false;
  let wanted = false;
  let closing = false;
  let changed = () => {};
  let output: ReadableStreamDefaultController<O>;
  let input: WritableStreamDefaultController;

  const end = async (reason: unknown) => {
    if (!stop.signal.aborted) {
      stopListening();
      stop.abort(reason);
      for (const result of ready.splice(0)) discard(result);
      for (const call of running.values()) call.abort(stop.signal.reason);
    }
    await Promise.all(running.keys());
    changed();
    output.error(stop.signal.reason);
    input.error(stop.signal.reason);
  };
  const abort = () => void end(abortError(signal?.reason));
  let stopListening = () => {};

  const begin = (item: I) => {
    const controller = new AbortController();
    const call = async () => {
      try {
        const result = await fn(item, { signal: controller.signal });
        if (stop.signal.aborted) discard(result);
        else ready.push(result);
      } catch (error) {
        void end(error);
      }
    };
    let settle = () => {};
    const settled: Promise<void> = new Promise<void>((resolve) => (settle = resolve)).then(() => {
      running.delete(settled);
      pass();
    });
    // Register the call before it starts, because it may abort the signal immediately.
    running.set(settled, controller);
    void call().then(settle);
  };

  const pass = () => {
    if (stop.signal.aborted) return;
    if (wanted && ready.length > 0) {
      wanted = false;
      output.enqueue(ready.shift() as O);
      changed();
    }
    if (closing && running.size + ready.length === 0) {
      closing = false;
      stopListening();
      output.close();
    }
  };

  /** Waits while `full` returns true; after a stop, until all calls have ended. */
  const hold = async (full: () => boolean) => {
    while (stop.signal.aborted ? running.size > 0 : full()) {
      await new Promise<void>((resolve) => (changed = resolve));
    }
  };

  const readable = new ReadableStream<O>(
    {
      start(controller) {
        output = controller;
      },
      pull() {
        asked = true;
        wanted = true;
        changed();
        pass();
      },
      async cancel(reason) {
        const failed = stop.signal.aborted;
        await end(reason);
        if (failed) throw stop.signal.reason;
      },
    },
    { highWaterMark: 0 },
  );
  const writable = new WritableStream<I>({
    start(controller) {
      input = controller;
      controller.signal.addEventListener("abort", () => void end(controller.signal.reason), { once: true });
    },
    async write(item) {
      await hold(() => !asked);
      if (stop.signal.aborted) return;
      begin(item);
      await hold(() => running.size + ready.length >= concurrency);
    },
    async close() {
      await Promise.all(running.keys());
      if (stop.signal.aborted) throw stop.signal.reason;
      closing = true;
      pass();
    },
    abort: (reason) => end(reason),
  });

  if (signal?.aborted) abort();
  else stopListening = onAbort(signal, abort);
  return { readable, writable };
}
