import type { NodeLayout } from "../../meta/format.ts";
import { outerPrefixes } from "../../meta/node-layout.ts";
import { listWanted } from "../../run/keys/keys-to-copy.ts";
import type { KeyEntry, ListableStore, ListOptions } from "../../stores/store.ts";
import { mapConcurrent } from "../../streams/map-concurrent.ts";
import { processSync } from "../../util/blocking-io.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { compareUtf8, sortUtf8 } from "../../util/names.ts";
import { type ReadableStream, streamFrom, TransformStream } from "../../util/web-streams.ts";
import { isSameSync, type ListedValue, type SameValueOptions, sameValue } from "./same-value.ts";

/** Values of up to this size are small: stores that do not need to wait read them before others are looked at. */
const SMALL_BYTES = 128 * 1024;

/** One side of a comparison: all keys below a node, with the key that each is compared by. */
export interface ComparedSide {
  readonly store: ListableStore;
  readonly layout: NodeLayout;
  /** Maps a key to its key in the target; undefined for a key that is not compared. */
  readonly keyOf: (key: string) => string | undefined;
  /** Called for each folder in the listing. */
  readonly onFolder?: ListOptions["onFolder"];
}

export interface DifferingKeysOptions extends SameValueOptions {
  readonly concurrency: number;
  /** Called with each key that both sides have with the same value. */
  readonly onSame: (pair: Pair) => void;
}

/**
 * Yields keys that only one side has, or that both have with different values, in no particular order. The listings are
 * merged as they arrive, so only a few keys are in memory at a time.
 *
 * @throws `unsupported-operation` for a listing that is not sorted.
 */
export function differingKeys(
  source: ComparedSide,
  target: ComparedSide,
  { concurrency, onSame, ...options }: DifferingKeysOptions,
): ReadableStream<Pair> {
  const { signal } = options;
  const valuesOf = ({ left, right }: Pair): readonly [ListedValue, ListedValue] | undefined =>
    left &&
    right && [
      { store: source.store, listed: left },
      { store: target.store, listed: right },
    ];
  const buffers = [new Uint8Array(SMALL_BYTES), new Uint8Array(SMALL_BYTES)] as const;
  const isSettled = (pair: Pair) => {
    const values = valuesOf(pair);
    if (!values || !isSameSync(...values, buffers)) return undefined;
    onSame(pair);
    return 2 * (values[0].listed.size ?? SMALL_BYTES);
  };
  const compare = async (pair: Pair, context: { readonly signal: AbortSignal }) => {
    const values = valuesOf(pair);
    return { pair, isSame: values !== undefined && (await sameValue(...values, { ...options, ...context })) };
  };
  return streamFrom(processSync(singly(mergedSides(source, target, signal)), isSettled, signal))
    .pipeThrough(mapConcurrent(compare, { concurrency, signal }))
    .pipeThrough(
      new TransformStream<Awaited<ReturnType<typeof compare>>, Pair>({
        transform({ pair, isSame }, controller) {
          if (isSame) onSame(pair);
          else controller.enqueue(pair);
        },
      }),
    );
}

/** Merges the listings of two sides by the keys that they are compared by. @throws as `mergeListings` */
export function mergedSides(
  source: ComparedSide,
  target: ComparedSide,
  signal: AbortSignal | undefined,
): AsyncGenerator<Pair> {
  return mergeListings(listed(source, signal), listed(target, signal));
}

async function* listed(
  { store, layout, keyOf, onFolder }: ComparedSide,
  signal: AbortSignal | undefined,
): AsyncGenerator<Keyed> {
  for (const prefix of sortUtf8([...outerPrefixes(layout)])) {
    for await (const entry of listWanted(store, prefix, keyOf, { signal, onFolder })) {
      const key = keyOf(entry.key);
      if (key !== undefined) yield { key, listed: entry };
    }
  }
}

async function* singly<T>(items: AsyncIterable<T>): AsyncGenerator<[T]> {
  for await (const item of items) yield [item];
}

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
        hint: "Make a new copy instead: an update compares the sorted listings of both stores.",
      });
    }
    last = entry.key;
    yield entry;
  }
}
