import { crc32 } from "../../../util/crc32.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import type { ListableStore, StoreOptions, WritableStore } from "../../store.ts";
import { holdsValue } from "../holds-value.ts";

/**
 * Wraps a store so that values are only created. A value that is present with the same bytes counts as written; a
 * different one is kept, and the call fails. Streamed values are compared before they are committed, so if two are
 * committed at once, the last one stays.
 */
export function createOnly(store: WritableStore & ListableStore): WritableStore & ListableStore {
  const isThere = async (key: string, size: number, checksum: () => number, options: StoreOptions) => {
    const found = await store.size(key, options);
    if (found === undefined) return false;
    const expected = found === size ? checksum() : 0;
    if (
      found === size &&
      (await holdsValue(store, { key, size, crc32: expected }, { readBack: true, ...options }))
    )
      return true;
    throw new ZarrflowError("differs", "a value of the target is there with other bytes", {
      store: store.description,
      key,
      expected: `${size} bytes`,
      found: `${found} bytes`,
      hint: "Another program, or another version of zarrflow or Node, has written it. Start again at another target.",
    });
  };
  const { ageOf, deleteMany } = store;
  return {
    description: store.description,
    get: (key, options) => store.get(key, options),
    size: (key, options) => store.size(key, options),
    list: (prefix, options) => store.list(prefix, options),
    listDirectory: (prefix, options) => store.listDirectory(prefix, options),
    ...(ageOf && { ageOf: (key, options) => ageOf.call(store, key, options) }),
    async set(key, bytes, options = {}) {
      const isNew = await store.setIfAbsent?.(key, bytes, options);
      // if the value has been deleted since, the process that misses it writes it again
      if (!isNew) await isThere(key, bytes.length, () => crc32(bytes), options);
    },
    async openWriter(key, options = {}) {
      const writer = await store.openWriter(key, options);
      let size = 0;
      let checksum = 0;
      return {
        async write(bytes) {
          checksum = crc32(bytes, checksum);
          size += bytes.length;
          await writer.write(bytes);
        },
        async commit() {
          if (await isThere(key, size, () => checksum, { signal: options.signal })) await writer.abort();
          else await writer.commit();
        },
        abort: (reason) => writer.abort(reason),
      };
    },
    setIfAbsent: async (key, bytes, options) => (await store.setIfAbsent?.(key, bytes, options)) ?? false,
    delete: (key, options) => store.delete(key, options),
    ...(deleteMany && { deleteMany: (keys, options) => deleteMany.call(store, keys, options) }),
  };
}
