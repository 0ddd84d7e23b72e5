import type { MemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";
import { refused } from "../rows.ts";
import { type Content, chunkAt, type NewMembers, storeOf } from "../stores.ts";

export const LITTLE = { name: "bytes", configuration: { endian: "little" } };
export const BIG = { name: "bytes", configuration: { endian: "big" } };
export const GZIP = { name: "gzip", configuration: { level: 1 } };
export const ARRAY = {
  ...{ zarr_format: 3, node_type: "array", shape: [4, 6], data_type: "int32", fill_value: 0 },
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3] } },
  chunk_key_encoding: { name: "default" },
  codecs: [LITTLE] as unknown[],
};
export const GROUP = { zarr_format: 3, node_type: "group" };

/** The array above, some of its members others. */
export function array(members: object = {}, others: Content = {}): Content {
  return { "zarr.json": { ...ARRAY, ...members }, ...others };
}

/** An array of bytes in one chunk, which may be in hexadecimal. */
export function bytes(length: number, members: object = {}, chunk?: Uint8Array | string): Content {
  const usual = { shape: [length], data_type: "uint8", codecs: ["bytes"], ...chunkShape(length) };
  return array({ ...usual, ...members }, chunkAt("c/0", chunk));
}

export function group(members: object = {}, others: Content = {}): Content {
  return { "zarr.json": { ...GROUP, ...members }, ...others };
}

export function chunkShape(...chunk_shape: number[]) {
  return { chunk_grid: { name: "regular", configuration: { chunk_shape } } };
}

/** Shards of inner chunks of two items, behind an index with its checksum. */
export function sharding(members: object = {}) {
  const configuration = { chunk_shape: [2], codecs: ["bytes"], index_codecs: [LITTLE, "crc32c"], ...members };
  return { name: "sharding_indexed", configuration };
}

export function invalid(pointer: string) {
  return refused("invalid-metadata", { pointer, format: "v3", path: "", key: "zarr.json" });
}

export function corrupt(details: object) {
  return refused("corrupt-chunk", { path: "", key: "c/0", ...details });
}

/** The store with a new array in it, of two bytes in two chunks. */
export async function made(
  path: string,
  members: NewMembers = {},
  { items, content = {} }: { items?: Uint8Array; content?: Content } = {},
): Promise<MemoryStore> {
  const store = await storeOf(content);
  const usual = { shape: [2], chunks: [1], dataType: "uint8", codec: "none" } as const;
  await given({ at: { store, path }, ...usual, ...members, values: items ?? null });
  return store;
}
