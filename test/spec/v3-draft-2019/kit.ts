import type { MemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";
import { refused } from "../rows.ts";
import { type Content, chunkAt, type NewMembers, storeOf } from "../stores.ts";

export const BOOTSTRAP = {
  zarr_format: "https://purl.org/zarr/spec/protocol/core/3.0",
  metadata_encoding: "application/json",
  extensions: [],
};
export const ARRAY = {
  shape: [4, 6],
  data_type: "<i4",
  chunk_grid: { type: "regular", chunk_shape: [2, 3] },
  chunk_memory_layout: "C",
  fill_value: 0,
  extensions: [],
  attributes: {},
};
export const GROUP = { extensions: [], attributes: {} };
export const URI = "http://example.org/x";
export const GZIP = "http://purl.org/zarr/spec/codec/gzip";

export function hierarchy(others: Content = {}, members: object = {}): Content {
  return { "zarr.json": { ...BOOTSTRAP, ...members }, ...others };
}

/** A root array, some of its members others. */
export function array(members: object = {}, others: Content = {}): Content {
  return hierarchy({ "meta/root.array": { ...ARRAY, ...members }, ...others });
}

/** A root array of bytes in one chunk, which may be in hexadecimal. */
export function bytes(length: number, members: object = {}, chunk?: Uint8Array | string): Content {
  const chunk_grid = { type: "regular", chunk_shape: [length] };
  const usual = { shape: [length], chunk_grid, data_type: "u1" };
  return array({ ...usual, ...members }, chunkAt("data/0", chunk));
}

export function invalid(pointer: string, key = "meta/root.array") {
  return refused("invalid-metadata", { pointer, format: "v3-draft-2019", path: "", key });
}

export function corrupt(codec: string, expected: number, found: number) {
  return refused("corrupt-chunk", { path: "", key: "data/0", coords: [0], codec, expected, found });
}

/** The store with a new array in it, of two bytes in two chunks. */
export async function made(
  path: string,
  members: NewMembers = {},
  { items, content = hierarchy() }: { items?: Uint8Array; content?: Content } = {},
): Promise<MemoryStore> {
  const store = await storeOf(content);
  const usual = {
    shape: [2],
    chunks: [1],
    dataType: "uint8",
    zarrFormat: "v3-draft-2019",
    codec: "none",
  } as const;
  await given({ at: { store, path }, ...usual, ...members, values: items ?? null });
  return store;
}
