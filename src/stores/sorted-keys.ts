import { isZarrflowError } from "../util/errors.ts";
import { compareUtf8 } from "../util/names.ts";
import { type ReadableStream, streamFromPages } from "../util/web-streams.ts";
import { assertPrefix } from "./key.ts";
import type { KeyEntry, ListedEntry, ListOptions } from "./store.ts";

/** The keys of a store that keeps them in memory, sorted by UTF-8 bytes, with sizes and, where known, CRC-32s. */
export interface KeyIndex {
  sortedKeys(): readonly string[];
  /** Returns the same keys in the order of their values in storage; absent if there is no such order. */
  storedKeys?(): readonly string[];
  /** @throws if the value cannot be read */
  sizeOf(key: string): number | undefined;
  crc32Of?(key: string): number | undefined;
}

/** Lists the keys that begin with `prefix`, as of the first read of the stream. */
export function listKeys(
  index: KeyIndex,
  prefix: string,
  { signal, onUnreadable, asStored }: ListOptions,
): ReadableStream<KeyEntry> {
  assertPrefix(prefix);
  const wanted = () =>
    asStored && index.storedKeys
      ? index.storedKeys().filter((key) => key.startsWith(prefix))
      : keysBelow(index.sortedKeys(), prefix);
  const keys = function* () {
    for (const key of wanted()) {
      const entry = listed(index, key, onUnreadable);
      if (entry) yield entry;
    }
  };
  return streamFromPages(pagesOf(keys()), signal);
}

/** Lists keys and prefixes one level below `prefix`, as of the first read of the stream. */
export function listLevel(
  index: KeyIndex,
  prefix: string,
  { signal, onUnreadable }: ListOptions,
): ReadableStream<ListedEntry> {
  assertPrefix(prefix);
  const entries = function* () {
    for (const name of levelBelow(index.sortedKeys(), prefix)) {
      const entry = name.endsWith("/") ? { prefix: name } : listed(index, name, onUnreadable);
      if (entry) yield entry;
    }
  };
  return streamFromPages(pagesOf<ListedEntry>(entries()), signal);
}

const PAGE = 256;

function* pagesOf<T>(items: Iterable<T>): Generator<T[]> {
  let page: T[] = [];
  for (const item of items) {
    if (page.push(item) < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

function listed(
  index: KeyIndex,
  key: string,
  onUnreadable: ListOptions["onUnreadable"],
): KeyEntry | undefined {
  let size: number | undefined;
  try {
    size = index.sizeOf(key);
  } catch (error) {
    if (onUnreadable === undefined || !isZarrflowError(error)) throw error;
    onUnreadable(key, error);
    return undefined;
  }
  const crc32 = index.crc32Of?.(key);
  return { key, ...(size !== undefined && { size }), ...(crc32 !== undefined && { crc32 }) };
}

function* keysBelow(keys: readonly string[], prefix: string): Generator<string> {
  for (let i = lowerBound(keys, prefix); i < keys.length; i++) {
    const key = keys[i];
    if (!key?.startsWith(prefix)) return;
    yield key;
  }
}

/** Visits only the first key of each deeper prefix, and skips the rest by binary search. */
function* levelBelow(keys: readonly string[], prefix: string): Generator<string> {
  for (let i = lowerBound(keys, prefix); i < keys.length; ) {
    const key = keys[i];
    if (!key?.startsWith(prefix)) return;
    const slash = key.indexOf("/", prefix.length);
    yield slash < 0 ? key : key.slice(0, slash + 1);
    // "0" is the character after "/"
    i = slash < 0 ? i + 1 : lowerBound(keys, `${key.slice(0, slash)}0`);
  }
}

/** Returns the index of the first key that is not less than `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareUtf8(keys[middle] ?? "", key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
