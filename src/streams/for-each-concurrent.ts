import { type MapConcurrentOptions, mapConcurrent } from "./map-concurrent.ts";
import { streamFrom, WritableStream } from "./web.ts";

/**
 * Runs `fn` on each item, on up to `concurrency` at a time; items are drawn as they are wanted. Resolves when all calls
 * have ended.
 *
 * @throws the first failure, once the other calls, whose signals it aborts, and what draws the items have ended.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T> | AsyncIterable<T>,
  fn: (item: T, context: { readonly signal: AbortSignal }) => Promise<void> | void,
  options: Omit<MapConcurrentOptions, "discard">,
): Promise<void> {
  const { readable, writable } = mapConcurrent(fn, options);
  const drawn = streamFrom(items).pipeTo(writable);
  const ended = readable.pipeTo(new WritableStream<void>());
  // whoever makes the items may be at work, too
  const [, outcome] = await Promise.allSettled([drawn, ended]);
  if (outcome.status === "rejected") throw outcome.reason;
}
