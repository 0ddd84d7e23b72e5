import { type ReadableStream, streamFrom } from "../../util/web-streams.ts";
import {
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type StoreOptions,
  type WritableStore,
} from "../store.ts";

export type StoreOperation =
  | "get"
  | "size"
  | "list"
  | "next"
  | "set"
  | "open"
  | "write"
  | "commit"
  | "delete"
  | "rename";

/** One call to a store, or one step of a listing (`list`, then `next`) or of a writer (`open`, then `write`). */
export interface StoreCall {
  readonly operation: StoreOperation;
  /** The key, or the prefix of a listing; the old key for `rename`. */
  readonly key: string;
  /** Bytes that the call writes. */
  readonly written: number;
}

/** Runs a call, now or later, and returns its result. */
export type Around = <T>(call: StoreCall, run: () => Promise<T>, options: StoreOptions) => Promise<T>;

/** The members of a store that wrapping keeps: those of the store interfaces. */
export type Wrapped<S extends Store> = Store & Pick<S, keyof S & (keyof ListableStore | keyof WritableStore)>;

/**
 * Wraps a store so that its calls go through `around`, except aborting a writer. The capabilities stay the same.
 */
export function wrapStore<S extends Store>(store: S, around: Around): Wrapped<S> {
  const wrapped: Store = {
    description: store.description,
    ...(store.findings !== undefined && { findings: store.findings }),
    get: (key, options = {}) => around(callOf("get", key), () => store.get(key, options), options),
    size: (key, options = {}) => around(callOf("size", key), () => store.size(key, options), options),
    ...(store.ageOf !== undefined && {
      ageOf: (key, options = {}) =>
        around(callOf("size", key), async () => store.ageOf?.(key, options), options),
    }),
    ...(store.version !== undefined && { version: async (options) => store.version?.(options) }),
    ...(store.watchMissing !== undefined && { watchMissing: store.watchMissing.bind(store) }),
    ...(store.noteMissing !== undefined && { noteMissing: store.noteMissing.bind(store) }),
    ...(store.comment !== undefined && { comment: store.comment }),
    ...(store.checks !== undefined && { checks: store.checks }),
    ...(store.close !== undefined && { close: async () => store.close?.() }),
    ...(isListable(store) && listing(store, around)),
    ...(isWritable(store) && writing(store, around)),
  };
  return wrapped as Wrapped<S>;
}

function listing(store: ListableStore, around: Around): Omit<ListableStore, keyof Store> {
  const { listUploads, listRuns } = store;
  return {
    list: (prefix, options = {}) =>
      streamFrom(steps(() => store.list(prefix, options), prefix, around, options)),
    listDirectory: (prefix, options = {}) =>
      streamFrom(steps(() => store.listDirectory(prefix, options), prefix, around, options)),
    ...(listUploads !== undefined && {
      listUploads: (prefix, options = {}) =>
        streamFrom(steps(() => listUploads.call(store, prefix, options), prefix, around, options)),
    }),
    ...(listRuns !== undefined && {
      listRuns: (options = {}) => streamFrom(steps(() => listRuns.call(store, options), "", around, options)),
    }),
  };
}

async function* steps<T>(
  open: () => ReadableStream<T>,
  prefix: string,
  around: Around,
  options: StoreOptions,
): AsyncGenerator<T> {
  let reader: ReadableStreamDefaultReader<T> | undefined;
  const next = async () => {
    reader ??= open().getReader();
    return reader.read();
  };
  try {
    for (let operation: StoreOperation = "list"; ; operation = "next") {
      const { done, value } = await around(callOf(operation, prefix), next, options);
      if (done) return;
      yield value;
    }
  } finally {
    await reader?.cancel();
  }
}

function writing(store: WritableStore, around: Around): Omit<WritableStore, keyof Store> {
  const { setIfAbsent, deleteMany } = store;
  return {
    ...(store.singleWriter !== undefined && { singleWriter: store.singleWriter }),
    set: (key, bytes, options = {}) =>
      around(callOf("set", key, bytes.length), () => store.set(key, bytes, options), options),
    delete: (key, options = {}) => around(callOf("delete", key), () => store.delete(key, options), options),
    ...(setIfAbsent !== undefined && {
      setIfAbsent: (key, bytes, options = {}) =>
        around(callOf("set", key, bytes.length), () => setIfAbsent.call(store, key, bytes, options), options),
    }),
    ...(deleteMany !== undefined && {
      deleteMany: (keys, options = {}) =>
        around(callOf("delete", keys[0] ?? ""), () => deleteMany.call(store, keys, options), options),
    }),
    ...(store.rename !== undefined && {
      rename: async (from, to, options = {}) =>
        around(callOf("rename", from), async () => store.rename?.(from, to, options), options),
    }),
    async openWriter(key, options = {}) {
      const writer = await around(callOf("open", key), () => store.openWriter(key, options), options);
      return {
        write: (bytes) => around(callOf("write", key, bytes.length), () => writer.write(bytes), options),
        commit: () => around(callOf("commit", key), () => writer.commit(), options),
        abort: (reason) => writer.abort(reason),
      };
    },
  };
}

function callOf(operation: StoreOperation, key: string, written = 0): StoreCall {
  return { operation, key, written };
}
