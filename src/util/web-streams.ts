/**
 * The one place that picks the streams: the runtime's own, or the ponyfill where async iteration is lacking.
 * The two kinds cannot be mixed in one chain, so everything here takes them from this module.
 */
const native =
  typeof globalThis.ReadableStream === "function" &&
  Symbol.asyncIterator in globalThis.ReadableStream.prototype;

const streams: Pick<typeof globalThis, "ReadableStream" | "TransformStream" | "WritableStream"> = native
  ? globalThis
  : ((await import("web-streams-polyfill")) as unknown as typeof globalThis);

export const { ReadableStream, TransformStream, WritableStream } = streams;
export type ReadableStream<T> = globalThis.ReadableStream<T>;
export type TransformStream<I, O> = globalThis.TransformStream<I, O>;
export type WritableStream<T> = globalThis.WritableStream<T>;

/** A stream that pulls from an iterable when read, and closes it when cancelled. */
export function streamFrom<T>(items: AsyncIterable<T> | Iterable<T>): ReadableStream<T> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : (items as Iterable<T>)[Symbol.iterator]();
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
    { highWaterMark: 0 },
  );
}
