import { TransformStream } from "./web.ts";

/**
 * Puts chunks back into the order of their `index`, from `first` on. It holds what came too early, so let the
 * source bound what is in flight (`inFlight` of `readChunks`, or a lease).
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
