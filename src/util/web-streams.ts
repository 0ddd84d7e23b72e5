import { abortError, onAbort, throwIfAborted } from "./abort.ts";
import type { OfPlatform } from "./platform-types.ts";

/**
 * The stream classes that the whole package uses: the runtime's own, or the ponyfill if these lack async iteration.
 * The two cannot be mixed in one chain, so all other modules import them from here.
 */
export let ReadableStream: OfPlatform<"ReadableStream"> = globalThis.ReadableStream;
export let TransformStream: OfPlatform<"TransformStream"> = globalThis.TransformStream;
export let WritableStream: OfPlatform<"WritableStream"> = globalThis.WritableStream;
export type ReadableStream<T> = globalThis.ReadableStream<T>;
export type TransformStream<I, O> = globalThis.TransformStream<I, O>;
export type WritableStream<T> = globalThis.WritableStream<T>;

let ponyfill: Promise<void> | undefined;

/** Loads the ponyfill if needed. Everything that opens or creates a store or a node awaits this first. */
export async function loadStreams(): Promise<void> {
  if (typeof ReadableStream === "function" && Symbol.asyncIterator in ReadableStream.prototype) return;
  ponyfill ??= import("web-streams-polyfill").then((streams) => {
    ({ ReadableStream, TransformStream, WritableStream } = streams as unknown as typeof globalThis);
  });
  await ponyfill;
}

/**
 * Creates a stream that pulls from an iterable on demand, or ahead as `ahead` says, and closes the iterator on
 * cancel.
 */
export function streamFrom<T>(
  items: AsyncIterable<T> | Iterable<T>,
  ahead: QueuingStrategy<T> = { highWaterMark: 0 },
): ReadableStream<T> {
  const iterator = iteratorOf(items);
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        await iterator.return?.(reason);
      },
    },
    ahead,
  );
}

interface UnreadPages<T> {
  readonly pages: AsyncIterator<readonly T[]> | Iterator<readonly T[]>;
  readonly signal: AbortSignal | undefined;
}

/** Sources of the streams made from pages that nobody has read from yet. */
const unread = new WeakMap<ReadableStream<unknown>, UnreadPages<unknown>>();

/**
 * Creates a stream of the items on pages. Requests each page after the previous one has been read. On abort the
 * stream fails at once with an `aborted` error, even if items are unread.
 */
export function streamFromPages<T>(
  pages: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  signal?: AbortSignal,
): ReadableStream<T> {
  const iterator = iteratorOf(pages);
  let stopListening = () => {};
  const stream = new ReadableStream<T>(
    {
      start(controller) {
        const stop = () => {
          controller.error(abortError(signal?.reason));
          void iterator.return?.();
        };
        if (signal?.aborted) stop();
        stopListening = onAbort(signal, stop);
      },
      async pull(controller) {
        unread.delete(stream);
        try {
          let page = await iterator.next();
          while (!page.done && page.value.length === 0) page = await iterator.next();
          if (signal?.aborted) return;
          if (!page.done) {
            for (const item of page.value) controller.enqueue(item);
            return;
          }
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        stopListening();
      },
      async cancel(reason) {
        stopListening();
        await iterator.return?.(reason);
      },
    },
    { highWaterMark: 0 },
  );
  unread.set(stream, { pages: iterator, signal });
  return stream;
}

/**
 * Yields the content of a stream page by page. An unread stream made from pages yields them directly, which saves 2
 * us per item; for any other stream each item is a page.
 */
export async function* pagesFrom<T>(stream: ReadableStream<T>): AsyncGenerator<readonly T[]> {
  const whole = unread.get(stream) as UnreadPages<T> | undefined;
  const reader = stream.getReader();
  try {
    if (whole) {
      for (let page = await whole.pages.next(); !page.done; page = await whole.pages.next()) {
        throwIfAborted(whole.signal);
        yield page.value;
      }
    } else {
      for (let item = await reader.read(); !item.done; item = await reader.read()) yield [item.value];
    }
  } finally {
    await reader.cancel();
  }
}

/** Streams non-empty pages, reading ahead until `maxItems` items wait. */
export function pagesAhead<T>(
  pages: AsyncIterable<readonly T[]>,
  maxItems: number,
): ReadableStream<readonly T[]> {
  return streamFrom(nonEmpty(pages), { highWaterMark: maxItems, size: (page) => page.length });
}

async function* nonEmpty<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[]> {
  for await (const page of pages) if (page.length > 0) yield page;
}

function iteratorOf<T>(items: AsyncIterable<T> | Iterable<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
}
