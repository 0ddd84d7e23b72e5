import { afterEach, beforeEach, expect } from "vitest";
import { type ErrorCode, isZarrflowError } from "../../src/index.ts";
import { type MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { givenKeys } from "../support/given.ts";

export const encoder = new TextEncoder();

export const ZARRAY = {
  zarr_format: 2,
  shape: [4],
  chunks: [2],
  dtype: "|u1",
  compressor: null,
  fill_value: 7,
  order: "C",
  filters: null,
};
export const ZARR_JSON = {
  zarr_format: 3,
  node_type: "array",
  shape: [4],
  data_type: "uint8",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } },
  chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
  fill_value: 7,
  codecs: [{ name: "bytes" }],
};
export const META = {
  zarr_format: 1,
  shape: [4],
  chunks: [2],
  dtype: "|u1",
  compression: "none",
  compression_opts: null,
  fill_value: 7,
  order: "C",
};
export const BOOTSTRAP = {
  zarr_format: "https://purl.org/zarr/spec/protocol/core/3.0",
  metadata_encoding: "application/json",
  extensions: [],
};
export const DRAFT_ARRAY = {
  shape: [4],
  data_type: "u1",
  chunk_grid: { type: "regular", chunk_shape: [2] },
  chunk_memory_layout: "C",
  fill_value: 7,
  extensions: [],
  attributes: {},
};

/** Documents by key, as objects or as text, and what else is stored. */
export type Content = Readonly<Record<string, object | string>>;

/** An array of each format, with other members than usual. */
export const ARRAYS: Readonly<Record<string, (members: object) => Content>> = {
  v1: (members) => ({ meta: { ...META, ...members }, attrs: {} }),
  v2: (members) => ({ ".zarray": { ...ZARRAY, ...members } }),
  v3: (members) => {
    const { chunks, ...rest } = members as { chunks?: unknown };
    const grid = chunks !== undefined && {
      chunk_grid: { name: "regular", configuration: { chunk_shape: chunks } },
    };
    return { "zarr.json": { ...ZARR_JSON, ...rest, ...grid } };
  },
  "v3-draft-2019": (members) => {
    const { chunks, ...rest } = members as { chunks?: unknown };
    const grid = chunks !== undefined && { chunk_grid: { type: "regular", chunk_shape: chunks } };
    return { "zarr.json": BOOTSTRAP, "meta/root.array": { ...DRAFT_ARRAY, ...rest, ...grid } };
  },
};
export const zarrFormats = Object.entries(ARRAYS);

export const FROM = "memory:hostile";
export const TO = "memory:hostile-target";

/** A store of these documents, which `FROM` then names. */
export async function storeOf(content: Content): Promise<MemoryStore> {
  const store = await givenKeys(content);
  nameMemoryStore("hostile", store);
  return store;
}

/** The code of the error that `run` ends with; undefined where it ends without. */
export async function codeOf(run: () => unknown): Promise<ErrorCode | undefined> {
  try {
    const result = await run();
    if (result && typeof result === "object" && Symbol.asyncIterator in result) {
      for await (const _ of result as AsyncIterable<unknown>);
    }
    return undefined;
  } catch (error) {
    if (isZarrflowError(error)) return error.code;
    throw error;
  }
}

/** No test leaves its stores to the next one, or a prototype that it changed. */
export function withoutLeftStores(): void {
  const forget = () => {
    for (const name of ["hostile", "hostile-target"]) nameMemoryStore(name, undefined);
  };
  beforeEach(forget);
  afterEach(() => {
    forget();
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
}
