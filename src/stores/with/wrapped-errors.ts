import { throwIfAborted } from "../../util/abort.ts";
import { type ErrorDetails, ZarrflowError } from "../../util/errors.ts";
import { storeFailure } from "../error-context.ts";
import { isNativeStore, markNativeStore, nativePrototype } from "../native-stores.ts";
import { isWritable, type Store, type StoreOptions, type WritableStore } from "../store.ts";
import { type Around, wrapStore } from "./wrap-store.ts";

const wrappedStores = new WeakMap<Store, Store>();
/** The stores of callers, by what wraps them. */
const callersStores = new WeakMap<Store, Store>();

/**
 * A store of the caller's whose failures are errors of ours, with the store, the key, and what it threw as `cause`: the
 * same one each time. A store of ours is itself.
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
      throw new ZarrflowError("corrupt-store", "the store returns neither bytes nor undefined", {
        store: store.description,
        key,
        found: bytes === null ? "null" : typeof bytes,
        hint: "Let `get` return a Uint8Array, or undefined for a missing key.",
      });
    },
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
 * The store whose values a `copierFrom` may take by its own means: what `withWrappedErrors` wrapped where it reads as a
 * store of ours does, else `store` itself.
 */
export function copySource(store: Store): Store {
  const callers = callersStores.get(store);
  return callers && nativePrototype(callers) && isInherited(callers, "get") ? callers : store;
}

function syncReading(store: Store): Pick<Store, "getSync"> {
  const { getSync } = store;
  if (getSync === undefined || !isInherited(store, "get")) return {};
  return { getSync: (key, into) => atKey(store, key, () => getSync.call(store, key, into)) };
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
 * Whether a fast path of a class of ours still does what `method` does: not where a class that extends it has a method of
 * its own. Other stores have fast paths of their own, which they answer for.
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
