import { throwIfAborted } from "../../util/abort.ts";
import { isWritable, type Store, type WritableStore } from "../store.ts";
import { type Wrapped, wrapStore } from "./wrap-store.ts";

/**
 * Wraps a store for a thread that may block. Values are read and written with `getSync`, `setSync` and
 * `writeSync`, which take a fifth of the time for small values. Asynchronous calls replace them if they return
 * undefined or false.
 *
 * @param before called before each call, because a blocked thread handles no messages. Returns a promise to wait
 *   for, if any, which rejects when the thread must stop
 */
export function withBlockingCalls<S extends Store>(
  store: S,
  before: () => Promise<void> | undefined,
): Wrapped<S> {
  const wrapped: Store = {
    ...wrapStore(store, (_call, run) => before()?.then(run) ?? run()),
    async get(key, options = {}) {
      const others = before();
      if (others) await others;
      const found = store.getSync?.(key, options);
      return found ? found.bytes : store.get(key, options);
    },
    ...(store.getSync !== undefined && {
      getSync(key, options) {
        const others = before();
        if (others === undefined) return store.getSync?.(key, options);
        others.catch(() => {}); // `get` waits, or fails
        return undefined;
      },
    }),
    ...(isWritable(store) && writing(store, before)),
  };
  return wrapped as Wrapped<S>;
}

function writing(
  store: WritableStore,
  before: () => Promise<void> | undefined,
): Pick<WritableStore, "set" | "openWriter"> {
  return {
    async set(key, bytes, options = {}) {
      const others = before();
      if (others) await others;
      throwIfAborted(options.signal);
      if (!store.setSync?.(key, bytes)) await store.set(key, bytes, options);
    },
    async openWriter(key, options) {
      const others = before();
      if (others) await others;
      const writer = await store.openWriter(key, options);
      return {
        async write(bytes) {
          const others = before();
          if (others) await others;
          if (!writer.writeSync?.(bytes)) await writer.write(bytes);
        },
        commit: () => writer.commit(),
        abort: (reason) => writer.abort(reason),
      };
    },
  };
}
