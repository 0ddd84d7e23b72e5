import type { Store } from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { BlockingIo } from "../../util/blocking-io.ts";

/**
 * Does what can be done by calls that block, item after item, as long as storage answers at once, and gives those that
 * are left over.
 *
 * @param pages items that are at hand together, which are not waited for one by one
 * @param attempt the bytes that an item took where it is done; if it is not, undefined: it is left over
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

/** Reads a whole value into the begin of `into` by calls that block; undefined where it is missing or they cannot. */
export function readInto(store: Store, key: string, into: Uint8Array): Uint8Array | undefined {
  return store.getSync?.(key, { into })?.bytes;
}
