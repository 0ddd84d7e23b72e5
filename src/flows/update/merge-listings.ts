import type { KeyEntry } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { compareUtf8 } from "../../util/utf8-order.ts";

/** A key, with its entry in each of two listings. */
export interface Pair {
  readonly key: string;
  readonly left?: KeyEntry | undefined;
  readonly right?: KeyEntry | undefined;
}

/** A listed entry, and the key that it is compared by. */
export interface Keyed {
  readonly key: string;
  readonly listed: KeyEntry;
}

/**
 * Merges two listings that are sorted by the UTF-8 bytes of their keys, holding one entry of each at a time.
 *
 * @throws `unsupported-operation` for an unsorted listing, from which missing keys cannot be determined.
 */
export async function* mergeListings(
  left: AsyncIterable<Keyed>,
  right: AsyncIterable<Keyed>,
): AsyncGenerator<Pair> {
  const [a, b] = [ascending(left), ascending(right)];
  try {
    let [l, r] = [(await a.next()).value, (await b.next()).value];
    for (let key = first(l, r); key !== undefined; key = first(l, r)) {
      const [inLeft, inRight] = [l?.key === key, r?.key === key];
      yield { key, left: inLeft ? l?.listed : undefined, right: inRight ? r?.listed : undefined };
      if (inLeft) l = (await a.next()).value;
      if (inRight) r = (await b.next()).value;
    }
  } finally {
    await Promise.all([a.return(undefined), b.return(undefined)]);
  }
}

function first(left: Keyed | undefined, right: Keyed | undefined): string | undefined {
  if (!left || !right) return (left ?? right)?.key;
  return compareUtf8(left.key, right.key) <= 0 ? left.key : right.key;
}

async function* ascending(entries: AsyncIterable<Keyed>): AsyncGenerator<Keyed, undefined> {
  let last: string | undefined;
  for await (const entry of entries) {
    if (last !== undefined && compareUtf8(last, entry.key) >= 0) {
      throw new ZarrflowError("unsupported-operation", "the listing of a store is not sorted", {
        key: entry.key,
        hint: "Make a new copy: an update compares two stores by their sorted listings.",
      });
    }
    last = entry.key;
    yield entry;
  }
}
