import type { ZarrflowError } from "../../util/errors.ts";
import { streamFrom } from "../../util/web-streams.ts";
import {
  isListable,
  type KeyEntry,
  type ListableStore,
  type ListedEntry,
  type ListOptions,
  type Store,
  type ValueChecks,
  type WritableStore,
} from "../store.ts";

/**
 * Makes a read-only store of a folder of a store. Its keys are those that begin with `folder` and a slash, without
 * that prefix. Closing it closes the store.
 */
export function withFolder(store: Store, folder: string): Store & Partial<ListableStore> {
  const start = `${folder}/`;
  const listed = async function* (entries: AsyncIterable<ListedEntry>): AsyncGenerator<ListedEntry> {
    for await (const entry of entries) {
      if ("prefix" in entry) yield { prefix: entry.prefix.slice(start.length) };
      else yield { ...entry, key: entry.key.slice(start.length) };
    }
  };
  const listing = ({ onUnreadable, onFolder, ...options }: ListOptions = {}): ListOptions => ({
    ...options,
    ...(onFolder && { onFolder: (prefix: string) => onFolder(prefix.slice(start.length)) }),
    ...(onUnreadable && {
      onUnreadable: (name: string, error: ZarrflowError) => onUnreadable(name.slice(start.length), error),
    }),
  });
  const watchMissing = store.watchMissing?.bind(store);
  return {
    description: `${folder} in ${store.description}`,
    get: (key, options) => store.get(start + key, options),
    size: (key, options) => store.size(start + key, options),
    ...(store.ageOf !== undefined && { ageOf: async (key, options) => store.ageOf?.(start + key, options) }),
    ...(store.version !== undefined && { version: async (options) => store.version?.(options) }),
    ...(watchMissing && {
      watchMissing: (prefixes = [""]) => watchMissing(prefixes.map((prefix) => start + prefix)),
    }),
    ...(store.noteMissing !== undefined && { noteMissing: (prefix) => store.noteMissing?.(start + prefix) }),
    ...(store.checks !== undefined && { checks: checksBelow(store.checks, start) }),
    ...(store.close !== undefined && { close: async () => store.close?.() }),
    ...(isListable(store) && {
      list: (prefix, options) =>
        streamFrom(listed(store.list(start + prefix, listing(options))) as AsyncGenerator<KeyEntry>),
      listDirectory: (prefix, options) =>
        streamFrom(listed(store.listDirectory(start + prefix, listing(options)))),
    }),
  };
}

/** Returns the checks of a store for keys that begin with `start`. */
function checksBelow(checks: ValueChecks, start: string): ValueChecks {
  return {
    get unchecked() {
      return checks.unchecked;
    },
    check: (key, options) => checks.check(start + key, options),
    takeParts: () => checks.takeParts(),
    addParts: (parts) => checks.addParts(parts),
  };
}

/** Like `withFolder`, but for reading and writing. */
export function withWritableFolder(
  store: WritableStore,
  folder: string,
): WritableStore & Partial<ListableStore> {
  const start = `${folder}/`;
  const { setIfAbsent, deleteMany, rename, singleWriter } = store;
  return {
    ...withFolder(store, folder),
    ...(singleWriter !== undefined && { singleWriter }),
    set: (key, bytes, options) => store.set(start + key, bytes, options),
    openWriter: (key, options) => store.openWriter(start + key, options),
    delete: (key, options) => store.delete(start + key, options),
    ...(setIfAbsent && {
      setIfAbsent: (key, bytes, options) => setIfAbsent.call(store, start + key, bytes, options),
    }),
    ...(deleteMany && {
      deleteMany: (keys, options) =>
        deleteMany.call(
          store,
          keys.map((key) => start + key),
          options,
        ),
    }),
    ...(rename && {
      rename: (from, to, options) => rename.call(store, start + from, start + to, options),
    }),
  };
}
