import { plainBuffers } from "../../util/buffers.ts";
import type { GetOptions, Store } from "../store.ts";
import { type Wrapped, wrapStore } from "./around.ts";

export interface MergeOptions {
  /**
   * Bytes that are read between two ranges and thrown away, at most.
   *
   * @default 65,536
   */
  readonly mostBetween?: number;
  /**
   * Bytes that are read together, at most.
   *
   * @default 1,048,576
   */
  readonly mostTogether?: number;
}

/** A range that was asked for. */
interface Part {
  readonly offset: number;
  readonly end: number;
  readonly options: GetOptions;
  readonly resolve: (bytes: Uint8Array | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

const soon: (run: () => void) => void = globalThis.setImmediate ?? ((run) => setTimeout(run, 0));

/**
 * A store far away in which ranges of one value that are asked for at the same time, and lie near one another, are read
 * in one request. Shards and zips are read so by themselves; this is for other readers of parts.
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
export function withMergedRanges<S extends Store>(
  store: S,
  { mostBetween = 2 ** 16, mostTogether = 2 ** 20 }: MergeOptions = {},
): Wrapped<S> {
  const wrapped = wrapStore(store, (_call, run) => run());
  const waiting = new Map<string, Part[]>();
  const readEach = (key: string, parts: readonly Part[]) => {
    for (const { options, resolve, reject } of parts) store.get(key, options).then(resolve, reject);
  };
  const send = (key: string) => {
    const parts = waiting.get(key) ?? [];
    waiting.delete(key);
    for (const group of groupsOf(parts, mostBetween, mostTogether)) {
      if (group.length === 1) readEach(key, group);
      else readTogether(store, key, group).catch(() => readEach(key, group));
    }
  };
  const get = async (key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> => {
    const { range, signal } = options;
    if (range === undefined || "suffix" in range || !range.length) return store.get(key, options);
    signal?.throwIfAborted();
    const { offset, length } = range;
    return new Promise((resolve, reject) => {
      const parts = waiting.get(key) ?? [];
      if (parts.length === 0) {
        waiting.set(key, parts);
        soon(() => send(key));
      }
      parts.push({ offset, end: offset + length, options, resolve, reject });
    });
  };
  return { ...wrapped, get };
}

/** Parts that are read together, in their order in the value. */
function groupsOf(parts: readonly Part[], mostBetween: number, mostTogether: number): Part[][] {
  const groups: Part[][] = [];
  let [start, end] = [0, Number.NEGATIVE_INFINITY];
  for (const part of parts.toSorted((a, b) => a.offset - b.offset)) {
    const together = Math.max(end, part.end);
    if (part.offset - end <= mostBetween && together - start <= mostTogether) groups.at(-1)?.push(part);
    else {
      groups.push([part]);
      start = part.offset;
    }
    end = groups.at(-1)?.length === 1 ? part.end : together;
  }
  return groups;
}

/**
 * Reads what covers all parts and gives each its own, in a buffer of its own. It is given up once nobody waits for it.
 *
 * @throws what the store throws, when no part was given yet.
 */
async function readTogether(store: Store, key: string, parts: readonly Part[]): Promise<void> {
  const offset = Math.min(...parts.map((part) => part.offset));
  const length = Math.max(...parts.map((part) => part.end)) - offset;
  const [abandoned, over] = [new AbortController(), new AbortController()];
  let left = parts.length;
  for (const { options, reject } of parts) {
    const giveUp = () => {
      reject(options.signal?.reason);
      if (--left === 0) abandoned.abort(options.signal?.reason);
    };
    if (options.signal?.aborted) giveUp();
    else options.signal?.addEventListener("abort", giveUp, { once: true, signal: over.signal });
  }
  try {
    if (left === 0) return;
    const bytes = await store.get(key, { range: { offset, length }, signal: abandoned.signal });
    for (const part of parts) part.resolve(bytes && copyOf(bytes, offset, part));
  } finally {
    over.abort();
  }
}

function copyOf(bytes: Uint8Array, offset: number, part: Part): Uint8Array {
  const { allocate = plainBuffers.take } = part.options;
  const own = bytes.subarray(part.offset - offset, part.end - offset);
  const copy = allocate(own.length);
  copy.set(own);
  return copy;
}
