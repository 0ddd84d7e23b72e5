import { throwIfAborted } from "../../util/abort.ts";
import { type ErrorDetails, ZarrflowError } from "../../util/errors.ts";
import { type ReadableStream, streamFrom } from "../../util/web-streams.ts";
import {
  isListable,
  isWritable,
  type KeyEntry,
  type ListableStore,
  type Store,
  type StoreOptions,
  type WritableStore,
} from "../store.ts";
import { storeFailure } from "../store-failure.ts";
import { isNativeStore, markNativeStore, nativePrototype } from "../store-traits.ts";
import { type Around, wrapStore } from "./wrap-store.ts";

const wrappedStores = new WeakMap<Store, Store>();
/** The callers' stores, by their wrappers. */
const callersStores = new WeakMap<Store, Store>();

/**
 * Wraps a store of the caller so that its failures become errors of zarrflow, with the store, the key, and the
 * original as `cause`. Returns the same wrapper each time, and a store of zarrflow unchanged.
 */
export function withWrappedErrors(store: Store): Store {
  if (isNativeStore(store)) return store;
  const known = wrappedStores.get(store) ?? wrapErrors(store);
  wrappedStores.set(store, known);
  return known;
}

function wrapErrors(store: Store): Store {
  const around: Around = ({ key }, run, options) =>
    failingAs({ store: store.description, ...(key !== "" && { key }) }, run, options);
  const inner = wrapStore(store, around);
  const { version, close, folder } = store;
  const whole = { operation: "get", key: "", written: 0 } as const;
  const wrapped: Store = {
    ...inner,
    ...(folder !== undefined && { folder }),
    get: async (key, options) => {
      const bytes: unknown = await inner.get(key, options);
      if (bytes === undefined || bytes instanceof Uint8Array) return bytes;
      throw wrongAnswer("the store returned neither bytes nor undefined", bytes, {
        store: store.description,
        key,
        hint: "Let `get` return a Uint8Array, or undefined for a missing key.",
      });
    },
    size: async (key, options) => {
      const size: unknown = await inner.size(key, options);
      if (size === undefined || isSize(size)) return size;
      throw wrongAnswer("the store returned neither a size nor undefined", size, {
        store: store.description,
        key,
        hint: "Let `size` return a whole number of bytes, or undefined for a missing key.",
      });
    },
    ...(isListable(inner) && checkedListing(inner)),
    ...(version !== undefined && {
      version: (options = {}) => around(whole, async () => version.call(store, options), options),
    }),
    ...(close !== undefined && { close: () => around(whole, async () => close.call(store), {}) }),
    ...syncReading(store),
    ...(isWritable(store) && fastWriting(store)),
  };
  markNativeStore(wrapped);
  callersStores.set(wrapped, store);
  return wrapped;
}

/**
 * Returns the store that `copierFrom` may copy from directly: the store inside a wrapper of `withWrappedErrors`,
 * if it reads like a store of zarrflow, otherwise `store` itself.
 */
export function copySource(store: Store): Store {
  const callers = callersStores.get(store);
  return callers && nativePrototype(callers) && isInherited(callers, "get") ? callers : store;
}

/** Wraps listings so that invalid entries are rejected. */
function checkedListing(inner: ListableStore): Pick<ListableStore, "list" | "listDirectory"> {
  const checked = async function* (entries: AsyncIterable<unknown>, mayBePrefix: boolean) {
    for await (const entry of entries) {
      if (isKeyEntry(entry) || (mayBePrefix && isPrefix(entry))) yield entry;
      else {
        throw wrongAnswer("the store listed something that is not a key", entry, {
          store: inner.description,
          hint: "Let listings give objects with a `key`, and a `size` in bytes where it is known.",
        });
      }
    }
  };
  return {
    list: (prefix, options) =>
      streamFrom(checked(inner.list(prefix, options), false)) as ReadableStream<KeyEntry>,
    listDirectory: (prefix, options) => streamFrom(checked(inner.listDirectory(prefix, options), true)),
  };
}

function isKeyEntry(entry: unknown): entry is KeyEntry {
  if (typeof entry !== "object" || entry === null || !("key" in entry)) return false;
  return (
    typeof entry.key === "string" && (!("size" in entry) || entry.size === undefined || isSize(entry.size))
  );
}

function isPrefix(entry: unknown): entry is { readonly prefix: string } {
  return typeof entry === "object" && entry !== null && "prefix" in entry && typeof entry.prefix === "string";
}

function isSize(size: unknown): size is number {
  return Number.isSafeInteger(size) && (size as number) >= 0;
}

function wrongAnswer(reason: string, answer: unknown, details: ErrorDetails): ZarrflowError {
  const found = answer === null ? "null" : typeof answer === "number" ? answer : typeof answer;
  return new ZarrflowError("corrupt-store", reason, { ...details, found });
}

function syncReading(store: Store): Pick<Store, "getSync"> {
  const { getSync } = store;
  if (getSync === undefined || !isInherited(store, "get")) return {};
  return { getSync: (key, options) => atKey(store, key, () => getSync.call(store, key, options)) };
}

function fastWriting(store: WritableStore): Pick<WritableStore, "setSync" | "copierFrom"> {
  const { setSync, copierFrom, description } = store;
  if (!isInherited(store, "set") || !isInherited(store, "openWriter")) return {};
  return {
    ...(setSync !== undefined && {
      setSync: (key, bytes) => atKey(store, key, () => setSync.call(store, key, bytes)),
    }),
    ...(copierFrom !== undefined && {
      async copierFrom(source) {
        const copy = await failingAs({ store: description }, async () => copierFrom.call(store, source));
        return (
          copy &&
          ((from, to, options = {}) =>
            failingAs({ store: description, key: to }, async () => copy(from, to, options), options))
        );
      },
    }),
  };
}

/**
 * True if a fast path of a zarrflow class is equivalent to `method`, because no subclass overrides `method`. Other
 * stores are responsible for their own fast paths.
 */
function isInherited(store: Store, method: "get" | "set" | "openWriter"): boolean {
  const ours = nativePrototype(store) as WritableStore | undefined;
  return ours === undefined || (store as WritableStore)[method] === ours[method];
}

function atKey<T>(store: Store, key: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw storeFailure(error, { store: store.description, key });
  }
}

async function failingAs<T>(
  where: ErrorDetails,
  run: () => Promise<T>,
  { signal }: StoreOptions = {},
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throwIfAborted(signal);
    throw storeFailure(error, where);
  }
}
