import { type MapConcurrentOptions, mapConcurrent } from "./map-concurrent.ts";
import { streamFrom, WritableStream } from "./web.ts";

/**
 * Runs `fn` on each item, on up to `concurrency` at a time; items are drawn as they are wanted. Resolves when all calls
 * have ended.
 *
 * @throws the first failure, once the others, whose signals it aborts, have ended.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  fn: (item: T, context: { readonly signal: AbortSignal }) => Promise<void> | void,
  options: Omit<MapConcurrentOptions, "discard">,
): Promise<void> {
  await streamFrom(items).pipeThrough(mapConcurrent(fn, options)).pipeTo(new WritableStream<void>());
}
