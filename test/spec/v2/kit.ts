import { create } from "../../../src/index.ts";
import type { MemoryStore } from "../../../src/stores/memory.ts";
import { refused } from "../rows.ts";
import { type Content, chunkAt, type NewMembers, storeOf } from "../stores.ts";

export const ZARRAY = {
  ...{ zarr_format: 2, shape: [4, 6], chunks: [2, 3], dtype: "<i4", fill_value: 0, order: "C" },
  ...{ compressor: null, filters: null },
};
export const ZGROUP = { zarr_format: 2 };

/** The array above, some of its members others. */
export function array(members: object = {}, others: Content = {}): Content {
  return { ".zarray": { ...ZARRAY, ...members }, ...others };
}

/** An array of bytes in one chunk, which may be in hexadecimal. */
export function bytes(length: number, members: object = {}, chunk?: Uint8Array | string): Content {
  return array({ shape: [length], chunks: [length], dtype: "|u1", ...members }, chunkAt("0", chunk));
}

export function group(members: object = {}, others: Content = {}): Content {
  return { ".zgroup": { ...ZGROUP, ...members }, ...others };
}

export function invalid(pointer: string) {
  return refused("invalid-metadata", { pointer, format: "v2", path: "", key: ".zarray" });
}

export function corrupt(codec: string, expected?: number, found?: number) {
  const figures = expected === undefined ? {} : { expected, found };
  return refused("corrupt-chunk", { path: "", key: "0", coords: [0], codec, ...figures });
}

/** The store with a new array in it, of two bytes in two chunks. */
export async function made(
  path: string,
  members: NewMembers = {},
  { items, content = {}, ...options }: { items?: Uint8Array; content?: Content; allowUnicode?: boolean } = {},
): Promise<MemoryStore> {
  const store = await storeOf(content);
  const usual = { shape: [2], chunks: [1], dataType: "uint8", zarrFormat: "v2", codec: "none" } as const;
  const writer = await create({ store, path }, { ...usual, ...members }, options);
  if (items) await writer.write([[0, writer.shape[0] ?? 0]], items);
  await writer.close();
  return store;
}
