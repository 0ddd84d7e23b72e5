import { describe, expect, it } from "vitest";
import {
  append,
  convert,
  copy,
  create,
  openArray,
  rechunk,
  resizeArray,
  slice,
  sliceTo,
} from "../../src/index.ts";
import type { ZarrFormat } from "../../src/meta/array-metadata.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { given, givenKeys } from "../support/given.ts";

/** A group with an array of no times, whose document states chunks of length 0, as some writers do. */
async function emptyGroup(format: ZarrFormat): Promise<MemoryStore> {
  const shape = [0, 3];
  if (format === "v2") {
    const array = { zarr_format: 2, shape, chunks: shape, dtype: "<i2", order: "C", fill_value: 0 };
    return givenKeys({
      ".zgroup": { zarr_format: 2 },
      "v/.zarray": { ...array, filters: null, compressor: null },
      "v/.zattrs": { _ARRAY_DIMENSIONS: ["t", "x"] },
    });
  }
  const array = {
    ...{ zarr_format: 3, node_type: "array", shape, data_type: "int16", fill_value: 0 },
    chunk_grid: { name: "regular", configuration: { chunk_shape: shape } },
    chunk_key_encoding: { name: "default" },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    dimension_names: ["t", "x"],
  };
  return givenKeys({ "zarr.json": { zarr_format: 3, node_type: "group" }, "v/zarr.json": array });
}

/** Chunk lengths that the document of the array `path` states. */
async function chunksIn(store: MemoryStore, path: string): Promise<unknown> {
  const prefix = path === "" ? "" : `${path}/`;
  const bytes = (await store.get(`${prefix}zarr.json`)) ?? (await store.get(`${prefix}.zarray`));
  const document = JSON.parse(new TextDecoder().decode(bytes));
  return document.chunks ?? document.chunk_grid.configuration.chunk_shape;
}

describe.each(["v2", "v3"] as const)("an array of %s without items, in chunks of length 0", (format) => {
  it("stays as it is in a plain copy", async () => {
    const target = new MemoryStore();
    await copy(await emptyGroup(format), target);
    expect(await chunksIn(target, "v")).toEqual([0, 3]);
  });

  it.each(["v2", "v3"] as const)("gets chunks of length 1 where it is converted to %s", async (to) => {
    const target = new MemoryStore();
    await convert(await emptyGroup(format), target, { to });
    expect(await chunksIn(target, "v")).toEqual([1, 3]);
  });

  it("gets chunks of length 1 in a rechunk, in a slice and when it is resized", async () => {
    const [rechunked, sliced] = [new MemoryStore(), new MemoryStore()];
    await rechunk(await emptyGroup(format), rechunked, { chunks: { t: -1 } });
    expect(await chunksIn(rechunked, "v")).toEqual([1, 3]);
    await sliceTo(await emptyGroup(format), sliced, { slice: { x: [0, 2] } });
    expect(await chunksIn(sliced, "v")).toEqual([1, 2]);
    const resized = await emptyGroup(format);
    await resizeArray(await openArray({ store: resized, path: "v" }), [4, 3]);
    expect(await chunksIn(resized, "v")).toEqual([1, 3]);
  });

  it("gets chunks of length 1 when something is appended", async () => {
    const store = await emptyGroup(format);
    const grid = { shape: [2, 3], dataType: "int16", dimensionNames: ["t", "x"], fillValue: 0 };
    const more = await given({ zarrFormat: format, ...grid, values: [1, 2, 3, 4, 5, 6] });
    await append(more, await openArray({ store, path: "v" }), { dim: "t" });
    expect(await chunksIn(store, "v")).toEqual([1, 3]);
    const { data } = await slice(await openArray({ store, path: "v" })).read();
    expect([...(data as Int16Array)]).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it("is made so by create and slices of nothing", async () => {
    const made = new MemoryStore();
    const array = { shape: [0, 3], dataType: "int16", zarrFormat: format } as const;
    await (await create(made, { ...array, chunks: [-1, 3] })).close();
    expect(await chunksIn(made, "")).toEqual([1, 3]);
    const stated = new MemoryStore();
    await (await create(stated, { ...array, chunks: [0, 3] })).close();
    expect(await chunksIn(stated, "")).toEqual([1, 3]);
    const sliced = new MemoryStore();
    const full = new MemoryStore();
    await (await create(full, { ...array, shape: [4, 3], chunks: [2, 3] })).close();
    await sliceTo(full, sliced, { slice: [[2, 2]] });
    expect(await chunksIn(sliced, "")).toEqual([1, 3]);
  });
});
