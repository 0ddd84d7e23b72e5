import { throwIfAborted } from "../../util/abort.ts";
import { type MergedRange, mergeRanges } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { assertKnown, type OptionNames } from "../../util/options.ts";
import { readForAll, soon } from "../shared-read.ts";
import type { GetOptions, Store } from "../store.ts";
import { type Wrapped, wrapStore } from "./wrap-store.ts";

export interface MergeOptions {
  /**
   * Maximum number of bytes between two ranges that are read and discarded.
   *
   * @default 65,536
   */
  readonly mostBetween?: number | undefined;
  /**
   * Maximum number of bytes that are read in one request.
   *
   * @default 1,048,576
   */
  readonly mostTogether?: number | undefined;
}

const MERGE_OPTIONS: OptionNames<MergeOptions> = {
  mostBetween: true,
  mostTogether: true,
};

interface Part {
  readonly range: { readonly offset: number; readonly length: number };
  readonly options: GetOptions;
  readonly resolve: (bytes: Uint8Array | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Merges ranges of one value that are requested at the same time and near each other into one request, for remote
 * stores. Shards and zips do so themselves; this is for other readers of parts.
 *
 * @example
 * ```ts
 * import { HttpStore } from "zarrflow/stores/http";
 * import { withMergedRanges } from "zarrflow/stores/with/merged-ranges";
 * import { toZarrita } from "zarrflow/stores/with/zarrita";
 *
 * const store = toZarrita(withMergedRanges(new HttpStore("https://example.org/era5.zarr")));
 * console.log(typeof store.getRange); // function
 * ```
 */
export function withMergedRanges<S extends Store>(store: S, options: MergeOptions = {}): Wrapped<S> {
  assertKnown(options, MERGE_OPTIONS);
  const wrapped = wrapStore(store, (_call, run) => run());
  /** By key and requested version. */
  const waiting = new Map<string, Part[]>();
  const readEach = (key: string, parts: readonly Part[]) => {
    for (const { options, resolve, reject } of parts) store.get(key, options).then(resolve, reject);
  };
  const send = (key: string, of: string) => {
    const parts = waiting.get(of) ?? [];
    waiting.delete(of);
    for (const merged of mergeRanges(parts, options)) {
      if (merged.parts.length === 1) readEach(key, merged.parts);
      else readTogether(store, key, merged).catch(() => readEach(key, merged.parts));
    }
  };
  const get = async (key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> => {
    const { range, ifVersion, signal } = options;
    if (range === undefined || "suffix" in range || !range.length) return store.get(key, options);
    throwIfAborted(signal);
    const { offset, length } = range;
    return new Promise((resolve, reject) => {
      const of = `${key}\0${ifVersion ?? ""}`;
      const parts = waiting.get(of) ?? [];
      if (parts.length === 0) {
        waiting.set(of, parts);
        soon(() => send(key, of));
      }
      parts.push({ range: { offset, length }, options, resolve, reject });
    });
  };
  return { ...wrapped, get };
}

/**
 * Reads one range that covers all parts, and gives each part a buffer of its own.
 *
 * @throws the errors of the store, before any part is resolved.
 */
async function readTogether(
  store: Store,
  key: string,
  { offset, length, parts }: MergedRange<Part>,
): Promise<void> {
  const waiters = parts.map(({ options: { signal }, reject }) => ({ signal, reject }));
  const ifVersion = parts[0]?.options.ifVersion;
  const isLeaf = parts.some(({ options }) => options.isLeaf);
  const onVersion = (version: string) => {
    for (const { options } of parts) options.onVersion?.(version);
  };
  const bytes = await readForAll(waiters, (signal) =>
    store.get(key, { range: { offset, length }, isLeaf, ifVersion, onVersion, signal }),
  );
  for (const part of parts) part.resolve(bytes && copyOf(bytes, offset, part));
}

function copyOf(bytes: Uint8Array, offset: number, part: Part): Uint8Array {
  const { allocate = plainBuffers.take } = part.options;
  const own = bytes.subarray(part.range.offset - offset, part.range.offset + part.range.length - offset);
  const copy = allocate(own.length);
  copy.set(own);
  return copy;
}
