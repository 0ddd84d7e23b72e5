import type { Store, StoredValue, StoreOptions } from "../stores/store.ts";
import { crc32 } from "../util/crc32.ts";
import type { ResumeOptions } from "./options.ts";

/** Bytes that are read at a time. */
const PIECE_BYTES = 1024 * 1024;

/**
 * True if a store contains a value as it was recorded. With `readBack`, a value without a recorded checksum counts
 * as missing.
 */
export async function holdsValue(
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
