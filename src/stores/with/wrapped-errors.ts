import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { storeFailure } from "../error-context.ts";
import { isNativeStore, markNativeStore } from "../native-stores.ts";
import type { Store } from "../store.ts";
import { type Around, wrapStore } from "./wrap-store.ts";

const wrappedStores = new WeakMap<Store, Store>();

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
  const around: Around = async ({ key }, run, { signal }) => {
    try {
      return await run();
    } catch (error) {
      throwIfAborted(signal);
      throw storeFailure(error, { store: store.description, ...(key !== "" && { key }) });
    }
  };
  const inner = wrapStore(store, around);
  const { version, close, folder } = store;
  const whole = { operation: "get", key: "", written: 0 } as const;
  const wrapped: Store = {
    ...inner,
    ...(folder !== undefined && { folder }),
    get: async (key, options) => {
      const bytes: unknown = await inner.get(key, options);
      if (bytes === undefined || bytes instanceof Uint8Array) return bytes;
      throw new ZarrflowError("corrupt-store", "the store gives what is neither bytes nor undefined", {
        store: store.description,
        key,
        found: bytes === null ? "null" : typeof bytes,
        hint: "Let `get` give a Uint8Array, or undefined for a key that is missing.",
      });
    },
    ...(version !== undefined && {
      version: (options = {}) => around(whole, async () => version.call(store, options), options),
    }),
    ...(close !== undefined && { close: () => around(whole, async () => close.call(store), {}) }),
  };
  markNativeStore(wrapped);
  return wrapped;
}
