import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { defineStore } from "../define-store.ts";
import { isMissing } from "../files/file-error.ts";
import { isKey } from "../key.ts";
import { isWritable, type KeyEntry, type Store, type WritableStore } from "../store.ts";
import { withWrappedErrors } from "./wrapped-errors.ts";

/** A key in zarrita. */
type Path = `/${string}`;

/** A range of a value in zarrita. */
type RangeQuery = { readonly offset: number; readonly length: number } | { readonly suffixLength: number };

interface ReadOptions {
  readonly signal?: AbortSignal;
}

/**
 * A store as zarrita accepts it, including any `Map` from keys to bytes. Keys begin with a slash, and calls may be
 * synchronous.
 */
export interface ZarritaStore {
  get(key: Path, options?: ReadOptions): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  getRange?(
    key: Path,
    range: RangeQuery,
    options?: ReadOptions,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  set?(key: Path, value: Uint8Array): unknown;
  delete?(key: Path): unknown;
}

/** A store of zarrflow that zarrita can read. */
export interface ZarritaReader {
  get(key: Path, options?: ReadOptions): Promise<Uint8Array | undefined>;
  getRange(key: Path, range: RangeQuery, options?: ReadOptions): Promise<Uint8Array | undefined>;
}

/** A store of zarrflow that zarrita can read and write. */
export interface ZarritaWriter extends ZarritaReader {
  set(key: Path, value: Uint8Array): Promise<void>;
}

/**
 * Adapts a store of zarrflow for zarrita.
 *
 * @example
 * ```ts
 * import { DirectoryStore } from "zarrflow/stores/directory";
 * import { toZarrita } from "zarrflow/stores/with/zarrita";
 *
 * const store = toZarrita(new DirectoryStore("era5.zarr")); // zarr.open(store)
 * console.log((await store.get("/.zgroup"))?.length !== undefined); // true
 * ```
 */
export function toZarrita(store: WritableStore): ZarritaWriter;
export function toZarrita(store: Store): ZarritaReader;
export function toZarrita(store: Store): ZarritaReader {
  return {
    get: (key, options) => store.get(keyOf(key), options),
    getRange: (key, range, options) => store.get(keyOf(key), { ...options, range: rangeOf(range) }),
    ...(isWritable(store) && {
      set: (key: Path, value: Uint8Array) => store.set(keyOf(key), value),
    }),
  };
}

/**
 * Adapts a store of zarrita for zarrflow; `open`, `create` and `copy` do so themselves. It cannot list keys,
 * unless it is a `Map`, and finds the size of a value by reading it. It can write if it has `set`, and delete if
 * it has `delete`.
 */
export function fromZarrita(store: ZarritaStore): Store {
  const readValue = (key: string, { signal }: ReadOptions) =>
    missingAsUndefined(async () => store.get(`/${key}`, signal && { signal }));
  return defineStore({
    description: `zarrita ${store.constructor?.name ?? "store"}`,
    get: readValue,
    ...(store.getRange && {
      async getRange(key, range, { signal }) {
        const query = queryOf(range);
        if (query)
          return missingAsUndefined(async () => store.getRange?.(`/${key}`, query, signal && { signal }));
        const value = await readValue(key, { signal });
        if (value === undefined) return undefined;
        const { offset, length } = resolveRange(range, value.length);
        return value.subarray(offset, offset + length);
      },
    }),
    ...(store instanceof Map && { list: () => entriesOf(store) }),
    ...(store.set && {
      set: (key, bytes) => store.set?.(`/${key}`, bytes),
      async delete(key, options) {
        if (store.delete === undefined) {
          throw new ZarrflowError("unsupported-operation", "this store cannot delete", { key });
        }
        // zarrita's file store fails if there is nothing to delete
        if ((await readValue(key, options)) !== undefined) await store.delete(`/${key}`);
      },
    }),
  });
}

const ours = new WeakMap<ZarritaStore, Store>();

/**
 * Converts a store of zarrflow's or zarrita's shape to one of zarrflow that throws only `ZarrflowError`. Returns
 * the same one each time.
 */
export function toStore(store: Store | ZarritaStore): Store {
  if (isOurs(store)) return withWrappedErrors(store);
  const known = ours.get(store) ?? withWrappedErrors(fromZarrita(store));
  ours.set(store, known);
  return known;
}

function* entriesOf(map: ReadonlyMap<unknown, Uint8Array>): Generator<KeyEntry> {
  for (const [path, { length: size }] of map) {
    const key = typeof path === "string" && path.startsWith("/") ? path.slice(1) : "";
    if (isKey(key)) yield { key, size };
  }
}

/** True for a store of zarrflow's shape. A `Map` has a `size` too, but it is a number. */
function isOurs(store: Store | ZarritaStore): store is Store {
  return "size" in store && typeof store.size === "function";
}

/** Reads from a store of zarrita, whose file store fails if a folder has the name. */
async function missingAsUndefined<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Undefined for a range that zarrita cannot request. */
function queryOf(range: ByteRange): RangeQuery | undefined {
  if ("suffix" in range) return { suffixLength: range.suffix };
  const { offset, length } = range;
  return length === undefined ? undefined : { offset, length };
}

function rangeOf(query: RangeQuery): ByteRange {
  return "suffixLength" in query ? { suffix: query.suffixLength } : query;
}

function keyOf(path: Path): string {
  return path.replace(/^\//, "");
}
