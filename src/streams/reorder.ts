import { TransformStream } from "../util/web-streams.ts";

/**
 * Puts chunks back into the order of their `index`, starting at `first`. It holds chunks that come early, so bound the
 * chunks in flight at the source (`inFlight` of `readChunks`, or a lease).
 */
export function reorder<T extends { readonly index: number }>(first = 0): TransformStream<T, T> {
  const early = new Map<number, T>();
  let next = first;
  return new TransformStream<T, T>({
    transform(chunk, controller) {
      early.set(chunk.index, chunk);
      for (let due = early.get(next); due !== undefined; due = early.get(next)) {
        early.delete(next++);
        controller.enqueue(due);
      }
    },
    flush(controller) {
      const rest = [...early.values()].sort((a, b) => a.index - b.index);
      for (const chunk of rest) controller.enqueue(chunk);
    },
  });
}
