import { plainBuffers } from "../../util/buffers.ts";
import { type ByteRange, resolveRange } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { sortUtf8 } from "../../util/utf8-order.ts";
import { forKey, storeFailure } from "../error-context.ts";
import { isMissing } from "../files/file-error.ts";
import { markNativeStore } from "../native-stores.ts";
import { type KeyIndex, listKeys, listLevel } from "../sorted-keys.ts";
import { isWritable, type ListableStore, type Store, type WritableStore } from "../store.ts";
import { bufferedWriter } from "../writer.ts";
import { withWrappedErrors } from "./wrapped-errors.ts";

/** A key as zarrita has it. */
type Path = `/${string}`;

/** A part of a value as zarrita asks for it. */
type RangeQuery = { readonly offset: number; readonly length: number } | { readonly suffixLength: number };

interface ReadOptions {
  readonly signal?: AbortSignal;
}

/** What zarrita takes for a store, and any `Map` from keys to bytes: keys begin with a slash, calls may be synchronous. */
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

/** A store of zarrflow as zarrita reads it. */
export interface ZarritaReader {
  get(key: Path, options?: ReadOptions): Promise<Uint8Array | undefined>;
  getRange(key: Path, range: RangeQuery, options?: ReadOptions): Promise<Uint8Array | undefined>;
}

/** A store of zarrflow as zarrita reads and writes it. */
export interface ZarritaWriter extends ZarritaReader {
  set(key: Path, value: Uint8Array): Promise<void>;
}

/**
 * A store of zarrflow for zarrita.
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
 * A store of zarrita as one of zarrflow, which `open`, `create` and `copy` make of it by themselves. It cannot list, unless
 * it is a `Map`; the size of a value is found by reading it. It can be written where it has `set`, and deleted from where
 * it has `delete`.
 */
export function fromZarrita(store: ZarritaStore): Store {
  const description = `zarrita ${store.constructor?.name ?? "store"}`;
  const about = <T>(key: string, signal: AbortSignal | undefined, call: (path: Path) => Promise<T>) =>
    forKey({ store: description, key, signal }, () => call(`/${key}`));
  const reader: Store = {
    description,
    get: (key, { range, allocate = plainBuffers.take, signal } = {}) =>
      about(key, signal, async (path) => {
        const found = await readFrom(store, path, range, signal && { signal });
        if (found === undefined) return undefined;
        const bytes = allocate(found.length); // what is found may be the store's own
        bytes.set(found);
        return bytes;
      }),
    size: (key, { signal } = {}) =>
      about(
        key,
        signal,
        async (path) => (await readFrom(store, path, undefined, signal && { signal }))?.length,
      ),
  };
  const made: Store = {
    ...reader,
    ...(store instanceof Map && listing(store)),
    ...(store.set !== undefined && writing(store, about)),
  };
  markNativeStore(made);
  return made;
}

const ours = new WeakMap<ZarritaStore, Store>();

/** A store, of zarrflow's shape or of zarrita's, as one of zarrflow, which fails with a `ZarrflowError` alone: the same one each time. */
export function toStore(store: Store | ZarritaStore): Store {
  if (isOurs(store)) return withWrappedErrors(store);
  const known = ours.get(store) ?? fromZarrita(store);
  ours.set(store, known);
  return known;
}

function listing(map: ReadonlyMap<unknown, Uint8Array>): Omit<ListableStore, keyof Store> {
  const index: KeyIndex = {
    sortedKeys: () =>
      sortUtf8(
        [...map.keys()].flatMap((path) =>
          typeof path === "string" && path.startsWith("/") ? [path.slice(1)] : [],
        ),
      ),
    sizeOf: (key) => map.get(`/${key}`)?.length,
  };
  return {
    list: (prefix, { signal } = {}) => listKeys(index, prefix, { signal }),
    listDirectory: (prefix, { signal } = {}) => listLevel(index, prefix, { signal }),
  };
}

/** A `Map` has a size too, but as a number. */
function isOurs(store: Store | ZarritaStore): store is Store {
  return "size" in store && typeof store.size === "function";
}

type About = <T>(
  key: string,
  signal: AbortSignal | undefined,
  call: (path: Path) => Promise<T>,
) => Promise<T>;

function writing(store: ZarritaStore, about: About): Omit<WritableStore, keyof Store> {
  const set: WritableStore["set"] = (key, bytes, { signal } = {}) =>
    about(key, signal, async (path) => {
      await callForeignStore(() => store.set?.(path, bytes.slice()));
    });
  return {
    set,
    openWriter: (key, { signal } = {}) =>
      about(key, signal, async () => bufferedWriter(key, (bytes) => set(key, bytes, { signal }), signal)),
    delete: (key, { signal } = {}) =>
      about(key, signal, async (path) => {
        if (store.delete === undefined) {
          throw new ZarrflowError("unsupported-operation", "this store cannot delete");
        }
        const found = await readFrom(store, path, undefined, signal && { signal });
        if (found !== undefined) await callForeignStore(() => store.delete?.(path));
      }),
  };
}

/** Makes a call of the caller's store. @throws what it throws, as an error of ours. */
async function callForeignStore(call: () => unknown): Promise<void> {
  try {
    await call();
  } catch (error) {
    throw storeFailure(error);
  }
}

/**
 * A value, or a part of it, cut at its end; its store of files fails where a folder has the name.
 *
 * @throws `short-read` for more than was asked for.
 */
async function readFrom(
  store: ZarritaStore,
  path: Path,
  range: ByteRange | undefined,
  options: ReadOptions | undefined,
): Promise<Uint8Array | undefined> {
  try {
    const query = range && queryOf(range);
    if (query !== undefined && store.getRange !== undefined) {
      return noMore(await store.getRange(path, query, options), query);
    }
    const value = await store.get(path, options);
    if (value === undefined || range === undefined) return value;
    const { offset, length } = resolveRange(range, value.length);
    return value.subarray(offset, offset + length);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw storeFailure(error);
  }
}

function noMore(part: Uint8Array | undefined, query: RangeQuery): Uint8Array | undefined {
  const asked = "suffixLength" in query ? query.suffixLength : query.length;
  if (part === undefined || part.length <= asked) return part;
  throw new ZarrflowError("short-read", "the store returns more than the requested range", {
    expected: asked,
    found: part.length,
  });
}

/** Undefined for what zarrita cannot ask for. */
function queryOf(range: ByteRange): RangeQuery | undefined {
  if ("suffix" in range) return range.suffix > 0 ? { suffixLength: range.suffix } : undefined;
  const { offset, length } = range;
  return length ? { offset, length } : undefined;
}

function rangeOf(query: RangeQuery): ByteRange {
  return "suffixLength" in query ? { suffix: query.suffixLength } : query;
}

function keyOf(path: Path): string {
  return path.replace(/^\//, "");
}
