import { isNamedAttributes, isNamedDocument } from "../stores/key.ts";
import type { ListableStore, Store, StoredValue, StoreOptions, WritableStore } from "../stores/store.ts";
import { crc32 } from "../util/crc32.ts";
import type { ResumeOptions } from "./options.ts";

/** Number of keys that are deleted at a time: in one call, or with one call each. */
const DELETED_TOGETHER = 1000;
const DELETED_EACH = 16;
/**
 * Keys of a listing that are kept until all documents are deleted. If there are more, the store is listed again.
 */
const MAX_KEPT = 10_000;

/**
 * Deletes every key of a store, the documents that make nodes first. At no time is there a visible array that
 * lacks attributes or chunks.
 */
export async function deleteAll(
  store: WritableStore & ListableStore,
  options: StoreOptions = {},
): Promise<void> {
  const others: string[] = [];
  let areMore = false;
  const isNode = (key: string) => {
    if (isNamedDocument(key) && !isNamedAttributes(key)) return true;
    if (others.length < MAX_KEPT) others.push(key);
    else areMore = true;
    return false;
  };
  await deleteKeys(store, keysWhere(store, isNode, options), options);
  await deleteKeys(store, areMore ? keysWhere(store, () => true, options) : others, options);
}

async function* keysWhere(
  store: ListableStore,
  isMeant: (key: string) => boolean,
  options: StoreOptions,
): AsyncGenerator<string> {
  for await (const { key } of store.list("", options)) if (isMeant(key)) yield key;
}

async function deleteKeys(
  store: WritableStore,
  keys: Iterable<string> | AsyncIterable<string>,
  options: StoreOptions,
): Promise<void> {
  const deleteTogether = async (batch: readonly string[]) => {
    if (store.deleteMany) await store.deleteMany(batch, options);
    else await Promise.all(batch.map((key) => store.delete(key, options)));
  };
  const most = store.deleteMany ? DELETED_TOGETHER : DELETED_EACH;
  let batch: string[] = [];
  for await (const key of keys) {
    batch.push(key);
    if (batch.length < most) continue;
    await deleteTogether(batch);
    batch = [];
  }
  if (batch.length > 0) await deleteTogether(batch);
}

/** Bytes that are read at a time. */
const PIECE_BYTES = 1024 * 1024;

/**
 * True if a store contains a value as it was recorded. With `readBack`, a value without a recorded checksum counts
 * as missing.
 */
export async function hasRecordedValue(
  store: Pick<Store, "get" | "size">,
  { key, size, crc32: expected }: StoredValue,
  { readBack, signal }: ResumeOptions & StoreOptions,
): Promise<boolean> {
  if ((await store.size(key, { signal })) !== size) return false;
  if (!readBack) return true;
  if (expected === undefined) return false;
  let checksum = 0;
  for (let offset = 0; offset < size; offset += PIECE_BYTES) {
    const range = { offset, length: Math.min(PIECE_BYTES, size - offset) };
    const bytes = await store.get(key, { range, signal });
    if (bytes?.length !== range.length) return false;
    checksum = crc32(bytes, checksum);
  }
  return checksum === expected;
}

/** Text that identifies a value by its key and size. */
export function valueText({ key, size }: Pick<StoredValue, "key" | "size">): string {
  return `${key}\n${size}`;
}
