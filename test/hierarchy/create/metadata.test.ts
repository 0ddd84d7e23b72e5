// @module-tag registers
import { describe, expect, test } from "vitest";
import { type BytesToBytesCodec, registerCodec } from "../../../src/codecs/index.ts";
import { create, type NewArray, openArray, slice } from "../../../src/index.ts";
import { describeCodec } from "../../../src/meta/codec-traits.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { keysOf } from "../../support/consume.ts";
import { codeOf, jsonAt } from "../keys.ts";

const array: NewArray = { shape: [4, 6], dataType: "float32", chunks: [2, 3] };

const LITTLE = { name: "bytes", configuration: { endian: "little" } };
const EVERYTHING = { dataType: ">i2", chunks: [-1, 3], order: "F", dimensionNames: ["y", "x"] } as const;
const FIELDS: NewArray["dataType"] = [
  ["x", "<i2"],
  ["y", "<f4"],
];

async function created(options: Partial<NewArray>) {
  const store = new MemoryStore();
  await (await create(store, { ...array, ...options })).close();
  return { store, array: await openArray(store) };
}

describe("an array as people write it", () => {
  test("v3, with defaults", async () => {
    const { store } = await created({});
    expect(await jsonAt(store, "zarr.json")).toEqual({
      shape: [4, 6],
      data_type: "float32",
      chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3] } },
      chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
      fill_value: 0,
      codecs: [LITTLE, { name: "zstd", configuration: { level: 3 } }],
      attributes: {},
      zarr_format: 3,
      node_type: "array",
      storage_transformers: [],
    });
  });

  test("in shards, whose sizes are whole chunks", async () => {
    const { store, array } = await created({ shards: [-1, 6], codec: "gzip:5", order: "F" });
    expect(array.chunkShape).toEqual([4, 6]);
    const transpose = { name: "transpose", configuration: { order: [1, 0] } };
    const configuration = {
      ...{ chunk_shape: [2, 3], codecs: [transpose, LITTLE, { name: "gzip", configuration: { level: 5 } }] },
      ...{ index_codecs: [LITTLE, { name: "crc32c" }], index_location: "end" },
    };
    const { codecs } = (await jsonAt(store, "zarr.json")) as { codecs: unknown };
    expect(codecs).toEqual([{ name: "sharding_indexed", configuration }]);
  });

  test("v1, with defaults", async () => {
    const { store, array } = await created({ zarrFormat: "v1" });
    expect(await keysOf(store)).toEqual(["attrs", "meta"]);
    expect(await jsonAt(store, "attrs")).toEqual({});
    expect(await jsonAt(store, "meta")).toEqual({
      ...{ zarr_format: 1, shape: [4, 6], chunks: [2, 3], dtype: "<f4", fill_value: 0, order: "C" },
      ...{ compression: "blosc", compression_opts: { cname: "lz4", clevel: 5, shuffle: 1 } },
    });
    expect(array.layout.zarrFormat).toBe("v1");
  });

  test("v1, with everything", async () => {
    const { store } = await created({
      ...{ ...EVERYTHING, zarrFormat: "v1", codec: "blosc:zlib:3:bitshuffle", fillValue: null },
      attributes: { units: "m" },
    });
    expect(await jsonAt(store, "attrs")).toEqual({ _ARRAY_DIMENSIONS: ["y", "x"], units: "m" });
    expect(await jsonAt(store, "meta")).toMatchObject({
      ...{ chunks: [4, 3], dtype: ">i2", fill_value: null, order: "F" },
      compression_opts: { cname: "zlib", clevel: 3, shuffle: 2 },
    });
  });

  test.each<[Partial<NewArray>, string, string]>([
    [{ shape: [], chunks: [] }, "invalid-option", "/shape"],
    [{ chunks: [2, 0] }, "invalid-option", "/chunks"],
    [{ codec: "zstd" }, "loss-refused", "/compression"],
    [{ codec: "blosc:zstd:5:shuffle" }, "loss-refused", "/compression"],
    [{ codec: "zlib", order: "F" }, "loss-refused", "/order"],
    [{ separator: "/" }, "loss-refused", "/chunk_key_encoding"],
    [{ dataType: "string" }, "loss-refused", "/data_type"],
    [{ dataType: "S3", fillValue: "abc" }, "loss-refused", "/fill_value"],
  ])("v1 cannot be %j", async (options, code, pointer) => {
    const { details, ...error } = await created({ zarrFormat: "v1", ...options }).catch((e) => e);
    expect([error.code, details.pointers?.[0] ?? details.pointer]).toEqual([code, pointer]);
  });

  test("v2, with everything", async () => {
    const { store } = await created({
      ...{ ...EVERYTHING, zarrFormat: "v2", codec: "blosc:zstd:3:bitshuffle", fillValue: -7, separator: "/" },
      attributes: { units: "m", scale: 2n ** 60n },
    });
    expect(await jsonAt(store, ".zarray")).toEqual({
      ...{ zarr_format: 2, shape: [4, 6], chunks: [4, 3], dtype: ">i2", fill_value: -7, order: "F" },
      compressor: { id: "blosc", cname: "zstd", clevel: 3, shuffle: 2, blocksize: 0 },
      ...{ filters: null, dimension_separator: "/" },
    });
    const attributes = new TextDecoder().decode(await store.get(".zattrs"));
    expect(attributes).toContain('"scale": 1152921504606846976');
    expect(JSON.parse(attributes)).toMatchObject({ units: "m", _ARRAY_DIMENSIONS: ["y", "x"] });
  });

  test("codecs in the form of v2 or v3, with or without the one that makes bytes", async () => {
    const gzip = { name: "gzip", configuration: { level: 2 } };
    const big = { name: "bytes", configuration: { endian: "big" } };
    const transpose = { name: "transpose", configuration: { order: [1, 0] } };
    const listOf = async (codecs: NewArray["codecs"], zarrFormat: "v2" | "v3" = "v3") =>
      (await created({ codecs, zarrFormat })).array.metadata.codecs.map(describeCodec);
    expect(await listOf([big, gzip])).toEqual(["bytes(big)", "gzip(2)"]);
    const three = ["transpose([1, 0])", "bytes(little)", "gzip(2)", "crc32c"];
    expect(await listOf([transpose, gzip, "crc32c"])).toEqual(three);
    const ofV2 = [
      { id: "delta", dtype: "<f4" },
      { id: "zlib", level: 1 },
    ];
    expect(await listOf(ofV2, "v2")).toEqual(["bytes(little)", "delta(dtype=<f4)", "zlib(1)"]);
    expect(await listOf([])).toEqual(["bytes(little)"]);
    expect(await codeOf(created({ codecs: [gzip], codec: "gzip" }))).toBe("invalid-option");
  });

  test.each(["v2", "v3"] as const)("a codec of the caller's own, in %s", async (zarrFormat) => {
    const invert = (source: Uint8Array, target: Uint8Array) => {
      for (const [i, byte] of source.entries()) target[i] = ~byte;
      return source.length;
    };
    const codec: BytesToBytesCodec = {
      ...{ kind: "bytes-to-bytes", name: "invert", encodeInto: invert, decodeInto: invert },
      maxEncodedSize: (decodedSize) => decodedSize,
    };
    registerCodec("invert", () => codec);
    const codecs = zarrFormat === "v2" ? [{ id: "invert" }] : ["invert"];
    const store = new MemoryStore();
    const writer = await create(store, { ...array, zarrFormat, codecs, dataType: "uint8" });
    await writer.write([], new Uint8Array(24).fill(1));
    await writer.close();
    expect((await store.get(zarrFormat === "v2" ? "0.0" : "c/0/0"))?.[0]).toBe(254);
    expect((await slice(await openArray(store)).read()).data).toEqual(new Uint8Array(24).fill(1));
  });

  test.each<[string, Partial<NewArray>, unknown]>([
    ["NaN", { fillValue: Number.NaN }, "NaN"],
    ["a bigint", { dataType: "uint64", fillValue: 2n ** 64n - 1n }, Number(2n ** 64n - 1n)],
    ["true", { dataType: "bool", fillValue: true }, true],
    ["not a time", { dataType: "datetime64[ns]", fillValue: "NaT" }, "NaT"],
    ["a pair", { dataType: "complex64", fillValue: [1, Number.NaN] }, [1, "NaN"]],
    ["text", { dataType: "U4", fillValue: "höhe" }, "höhe"],
    ["bytes", { dataType: "S4", fillValue: "ab" }, "YWI="],
    ["a string", { dataType: "string", fillValue: "none" }, "none"],
    ["fields", { dataType: FIELDS, fillValue: { x: -1, y: 0.5 } }, { x: -1, y: 0.5 }],
    ["the bits of a float", { fillValue: Uint8Array.of(1, 0, 0xc0, 0x7f) }, "0x7fc00001"],
    ["nothing, in v3", { fillValue: null }, 0],
    ["nothing, in v2", { fillValue: null, zarrFormat: "v2" }, null],
  ])("fill value: %s", async (_, options, json) => {
    const { store } = await created(options);
    expect((await jsonAt(store, options.zarrFormat === "v2" ? ".zarray" : "zarr.json")).fill_value).toEqual(
      json,
    );
  });

  test.each<[string, Partial<NewArray>, string, string]>([
    ["another rank of chunks", { chunks: [2] }, "invalid-option", "chunks` needs one size per dimension"],
    ["a chunk of nothing", { chunks: [2, 0] }, "invalid-option", "/chunk_grid/configuration/chunk_shape/1"],
    ["a negative shape", { shape: [-1, 6] }, "invalid-option", "/shape/0"],
    ["a fractional shape", { shape: [4, 6.5] }, "invalid-option", "/shape/1"],
    ["names of another rank", { dimensionNames: ["y"] }, "invalid-option", "/dimension_names"],
    ["a fill value out of range", { dataType: "int8", fillValue: 128 }, "invalid-option", "/fillValue"],
    ["shards of parts of chunks", { shards: [4, 4] }, "invalid-option", "multiples of 2 x 3"],
    ["shards of another rank", { shards: [4] }, "invalid-option", "a multiple of the chunk shape"],
    ["shards in v2", { shards: [4, 6], zarrFormat: "v2" }, "loss-refused", "sharding_indexed"],
    ["bytes of no item", { fillValue: new Uint8Array(3) }, "invalid-option", "expected 4, found 3"],
    ["a codec with a typo", { codec: "ztsd" as "zstd" }, "invalid-option", "there is no codec `ztsd`"],
    ["a codec of nobody", { codecs: ["mystery"] }, "unsupported-codec", "mystery"],
    ["a level out of range", { codec: "gzip:99" }, "invalid-option", "level"],
    ["attributes that are no JSON", { attributes: { f: () => 1 } }, "invalid-option", "/f"],
    ["attributes of NaN", { attributes: { n: Number.NaN } }, "loss-refused", "/attributes/n"],
  ])("%s", async (_, options, code, message) => {
    await expect(created(options)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});
