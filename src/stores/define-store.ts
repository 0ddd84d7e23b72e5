import { throwIfAborted, unlessAborted } from "../util/abort.ts";
import type { Awaitable } from "../util/awaitable.ts";
import { type ByteRange, resolveRange } from "../util/byte-range.ts";
import { plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import { sortUtf8 } from "../util/names.ts";
import { assertKnown, invalidOption, type OptionNames } from "../util/options.ts";
import { pagesFrom, type ReadableStream, streamFromPages } from "../util/web-streams.ts";
import { assertKey, assertPrefix, assertRename, isKey } from "./key.ts";
import { type KeyIndex, listKeys, listLevel } from "./sorted-keys.ts";
import type {
  GetOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListOptions,
  Store,
  StoreOptions,
  VersionOptions,
  WritableStore,
} from "./store.ts";
import { bufferedWriter } from "./writer.ts";

/** Options of `Store.get`, except those that `defineStore` handles. */
export type ValueOptions = Omit<GetOptions, "range" | "allocate">;

/** Keys, or entries with sizes, in any order. */
export type DefinedListing = Iterable<string | ListedEntry> | AsyncIterable<string | ListedEntry>;

/**
 * The functions that `defineStore` turns into a store. They may return a value or a promise, and are called with
 * valid keys only. They may throw anything: a failure is an error, never a missing key.
 */
export interface StoreDefinition
  extends Partial<Pick<Store, "version" | "ageOf" | "close">>,
    Partial<Pick<WritableStore, "singleWriter" | "openWriter" | "setIfAbsent" | "deleteMany" | "rename">> {
  /**
   * Kind and place for error messages, never a credential.
   *
   * @default "custom store"
   */
  readonly description?: string | undefined;
  /** Returns the whole value, or `undefined` if the key is missing. The bytes are copied. */
  get(key: string, options: ValueOptions): Awaitable<Uint8Array | undefined>;
  /**
   * Returns bytes of a value: those from `offset` on, at most `length` if given, or the last `suffix` bytes.
   * Returns fewer bytes if the value is shorter, none if it ends before `offset`, and `undefined` if the key is
   * missing. Never called for a range of 0 bytes. Without this function, ranges are cut from whole values.
   */
  getRange?(key: string, range: ByteRange, options: ValueOptions): Awaitable<Uint8Array | undefined>;
  /**
   * Returns the size of a value in bytes, or `undefined` if the key is missing. Without this function, the value
   * is read.
   */
  size?(key: string, options: VersionOptions): Awaitable<number | undefined>;
  /**
   * Returns the keys that begin with `prefix`, which is empty or ends in `/`. Other keys and duplicates are
   * dropped, and the rest is sorted.
   */
  list?(prefix: string, options: StoreOptions): Awaitable<DefinedListing>;
  /**
   * Returns the keys one level below `prefix`, and the prefixes (ending in `/`) that have keys below them. Without
   * this function, they are derived from all keys below `prefix`.
   */
  listDirectory?(prefix: string, options: StoreOptions): Awaitable<DefinedListing>;
  /** Writes a value, completely or not at all. `bytes` are a copy, which the store may keep. */
  set?(key: string, bytes: Uint8Array, options: StoreOptions): unknown;
  /** Removes a key, which may be missing already. */
  delete?(key: string, options: StoreOptions): unknown;
}

const MEMBERS: OptionNames<StoreDefinition> = {
  description: true,
  get: true,
  getRange: true,
  size: true,
  version: true,
  ageOf: true,
  close: true,
  list: true,
  listDirectory: true,
  set: true,
  delete: true,
  singleWriter: true,
  openWriter: true,
  setIfAbsent: true,
  deleteMany: true,
  rename: true,
};

/** Members that have no effect unless another one is defined. */
const NEEDED: Partial<Record<keyof StoreDefinition, keyof StoreDefinition>> = {
  listDirectory: "list",
  set: "delete",
  delete: "set",
  openWriter: "set",
  setIfAbsent: "set",
  deleteMany: "set",
  rename: "set",
  singleWriter: "set",
};

/**
 * Makes a store from your own functions; `get` alone is enough. The other members of the store interfaces are
 * derived: ranges, sizes, sorted listings with `/` as the delimiter, writers that make a value visible as a whole,
 * checks of keys and prefixes, abort signals, and the caller's buffers. `list` makes the store listable, `set` and
 * `delete` make it writable. Members that you define yourself take precedence.
 *
 * A listing keeps the keys below its prefix in memory, and a writer its value. A store that lists hundreds of
 * millions of keys should implement `ListableStore`, and one that streams shards of gigabytes should define
 * `openWriter`.
 *
 * @throws `invalid-option` for members that are unknown, of the wrong type, or have no effect without another one.
 * @example
 * ```ts
 * import { copy, defineStore, open } from "zarrflow";
 *
 * const values = new Map<string, Uint8Array>(); // or a database
 * const store = defineStore({
 *   get: (key) => values.get(key),
 *   set: (key, bytes) => values.set(key, bytes),
 *   delete: (key) => values.delete(key),
 *   list: () => values.keys(),
 * });
 * await copy("era5.zarr", store);
 * console.log((await open(store)).kind, values.has("t2m/.zarray")); // group true
 * ```
 */
export function defineStore(
  definition: StoreDefinition & Required<Pick<StoreDefinition, "list" | "set" | "delete">>,
): ListableStore & WritableStore;
export function defineStore(
  definition: StoreDefinition & Required<Pick<StoreDefinition, "set" | "delete">>,
): WritableStore;
export function defineStore(
  definition: StoreDefinition & Required<Pick<StoreDefinition, "list">>,
): ListableStore;
export function defineStore(definition: StoreDefinition): Store;
export function defineStore(definition: StoreDefinition): Store {
  assertDefinition(definition);
  const { description = "custom store" } = definition;
  // Anything but bytes, a size or undefined is passed on: the wrapper of the store rejects it.
  const size = async (key: string, options: VersionOptions): Promise<number | undefined> => {
    if (definition.size) return definition.size(key, options);
    const found = await definition.get(key, options);
    return found instanceof Uint8Array ? found.length : found;
  };
  return {
    description,
    get: (key, { range, allocate = plainBuffers.take, ...options } = {}) =>
      reading(key, options, async () => {
        const found = await readPart(definition, size, key, range, options);
        if (!(found instanceof Uint8Array)) return found;
        // On an abort, `reading` has failed already, and the caller may have released its buffers.
        throwIfAborted(options.signal);
        const bytes = allocate(found.length);
        bytes.set(found);
        return bytes;
      }),
    size: (key, options = {}) => reading(key, options, () => size(key, options)),
    ...(definition.version && { version: async (options) => definition.version?.(options) }),
    ...(definition.ageOf && {
      ageOf: (key, options = {}) => reading(key, options, async () => definition.ageOf?.(key, options)),
    }),
    ...(definition.close && { close: async () => definition.close?.() }),
    ...(definition.list &&
      listing(definition.list.bind(definition), definition.listDirectory?.bind(definition), description)),
    ...(definition.set && writing(definition)),
  };
}

function assertDefinition(definition: StoreDefinition): void {
  assertKnown(definition, MEMBERS, "member");
  for (const name of Object.keys(MEMBERS) as (keyof StoreDefinition)[]) {
    const value: unknown = definition[name];
    const expected = name === "description" ? "string" : name === "singleWriter" ? "boolean" : "function";
    if ((value !== undefined || name === "get") && typeof value !== expected)
      throw invalidOption(`invalid value for the member \`${name}\``, `a ${expected}`, value);
    const needed = NEEDED[name];
    if (value === undefined || needed === undefined || definition[needed] !== undefined) continue;
    throw new ZarrflowError("invalid-option", `\`${name}\` has no effect without \`${needed}\``, {
      hint: `Define \`${needed}\` too, or omit \`${name}\`.`,
    });
  }
}

/** Makes a call about a key. @throws `path-not-allowed`, `aborted`, and the errors of `call`. */
async function atKey<T>(key: string, { signal }: StoreOptions, call: () => Awaitable<T>): Promise<T> {
  throwIfAborted(signal);
  assertKey(key);
  return call();
}

/** Like `atKey`, but does not wait for a call that was aborted. */
function reading<T>(key: string, options: StoreOptions, call: () => Awaitable<T>): Promise<T> {
  return unlessAborted(atKey(key, options, call), options.signal);
}

/** @throws `short-read` if the store returns more bytes than the range has. */
async function readPart(
  definition: StoreDefinition,
  size: (key: string, options: VersionOptions) => Promise<number | undefined>,
  key: string,
  range: ByteRange | undefined,
  options: ValueOptions,
): Promise<Uint8Array | undefined> {
  const wanted = range && ("suffix" in range ? range.suffix : range.length);
  if (wanted === 0) return (await size(key, options)) === undefined ? undefined : new Uint8Array(0);
  if (range === undefined || !definition.getRange) {
    const whole = await definition.get(key, options);
    if (!(whole instanceof Uint8Array)) return whole;
    const { offset, length } = resolveRange(range, whole.length);
    return whole.subarray(offset, offset + length);
  }
  const part = await definition.getRange(key, range, options);
  if (part === undefined || wanted === undefined || !(part.length > wanted)) return part;
  throw new ZarrflowError("short-read", "the store returned more than the requested range", {
    key,
    expected: wanted,
    found: part.length,
  });
}

type List = NonNullable<StoreDefinition["list"]>;

function listing(
  list: List,
  listDirectory: List | undefined,
  store: string,
): Omit<ListableStore, keyof Store> {
  const stream = <T>(
    entriesOf: (index: KeyIndex, prefix: string, options: ListOptions) => ReadableStream<T>,
    prefix: string,
    { signal }: ListOptions,
    isLevel = false,
  ): ReadableStream<T> => {
    assertPrefix(prefix);
    const listOwn = isLevel ? listDirectory : undefined;
    const pages = async function* () {
      const sizes = new Map<string, number | undefined>();
      for await (const entry of await (listOwn ?? list)(prefix, { signal })) {
        const [name, size] = nameAndSize(entry, store);
        if (!name.startsWith(prefix) || name === prefix) continue;
        if (!name.endsWith("/") || listOwn) sizes.set(name, size);
      }
      const keys = sortUtf8([...sizes.keys()]);
      yield* pagesFrom(entriesOf({ sortedKeys: () => keys, sizeOf: (key) => sizes.get(key) }, prefix, {}));
    };
    return streamFromPages(pages(), signal);
  };
  return {
    list: (prefix, options = {}) => stream<KeyEntry>(listKeys, prefix, options),
    listDirectory: (prefix, options = {}) => stream<ListedEntry>(listLevel, prefix, options, true),
  };
}

/** @throws `corrupt-store` for an entry that is not a valid key. */
function nameAndSize(entry: string | ListedEntry, store: string): [name: string, size: number | undefined] {
  const isObject = typeof entry === "object" && entry !== null;
  const name: unknown = !isObject ? entry : "key" in entry ? entry.key : entry.prefix;
  if (typeof name === "string" && isKey(name.replace(/\/$/, "")))
    return [name, isObject && "key" in entry ? entry.size : undefined];
  throw new ZarrflowError("corrupt-store", "the store listed something that is not a key", {
    store,
    value: name,
    hint: "Let `list` yield keys as `get` takes them: relative, without empty segments, `.` or `..`. Leave out all others.",
  });
}

function writing(definition: StoreDefinition): Omit<WritableStore, keyof Store> {
  const { singleWriter, openWriter, setIfAbsent, deleteMany, rename } = definition;
  return {
    ...(singleWriter !== undefined && { singleWriter }),
    set: (key, bytes, options = {}) =>
      atKey(key, options, async () => {
        await definition.set?.(key, new Uint8Array(bytes), options);
      }),
    openWriter: (key, options = {}) =>
      atKey(key, options, () => {
        if (openWriter) return openWriter.call(definition, key, options);
        const { signal } = options;
        const set = async (bytes: Uint8Array) => {
          await definition.set?.(key, bytes, { signal });
        };
        return bufferedWriter(key, set, signal);
      }),
    delete: (key, options = {}) =>
      atKey(key, options, async () => {
        await definition.delete?.(key, options);
      }),
    ...(setIfAbsent && {
      setIfAbsent: (key, bytes, options = {}) =>
        atKey(key, options, () => setIfAbsent.call(definition, key, new Uint8Array(bytes), options)),
    }),
    ...(deleteMany && {
      async deleteMany(keys, options = {}) {
        throwIfAborted(options.signal);
        keys.forEach(assertKey);
        await deleteMany.call(definition, keys, options);
      },
    }),
    ...(rename && {
      async rename(from, to, options = {}) {
        throwIfAborted(options.signal);
        assertRename(from, to);
        await rename.call(definition, from, to, options);
      },
    }),
  };
}
