import type { Store } from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { BlockingIo } from "../../util/blocking-io.ts";

/**
 * Processes items with blocking calls as long as storage answers immediately. Yields the items that are left over.
 *
 * @param pages batches of items that are available together, without waiting for each
 * @param attempt returns the bytes that an item took, or undefined to leave it over
 */
export async function* processSync<T>(
  pages: AsyncIterable<Iterable<T>> | Iterable<Iterable<T>>,
  attempt: (item: T) => number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const concurrency = new BlockingIo();
  for await (const page of pages) {
    for (const item of page) {
      const others = concurrency.yield();
      if (others) {
        await others;
        throwIfAborted(signal);
      }
      const bytes = concurrency.attempt(attempt, item, itself);
      if (bytes === undefined) yield item;
    }
  }
}

const itself = (bytes: number) => bytes;

/**
 * Reads a whole value to the start of `into` with a blocking call; undefined if it is missing or that is not possible.
 */
export function readInto(store: Store, key: string, into: Uint8Array): Uint8Array | undefined {
  return store.getSync?.(key, { into })?.bytes;
}
