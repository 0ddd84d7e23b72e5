// @module-tag registers
import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type CodecJson, type ObjectCodecJson, registerCodec } from "../../src/codecs/registry.ts";
import {
  type DecodeBytesOptions,
  decodeBytes,
  type EncodeBytesOptions,
  encodeBytes,
} from "../../src/codecs/standalone.ts";
import { errorOf, expectSame } from "./support.ts";

const bytes = new Uint8Array(Float32Array.from({ length: 500 }, (_, i) => Math.round(i / 7)).buffer);

describe.each<CodecJson[]>([
  [{ id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 }],
  [{ id: "blosc", cname: "zstd", clevel: 1, shuffle: -1, blocksize: 0 }],
  [{ name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "bitshuffle", typesize: 4 } }],
  [{ name: "numcodecs.zlib", configuration: { level: 3 } }],
  [{ name: "numcodecs.shuffle", configuration: { elementsize: 4 } }],
  [{ id: "zstd", level: 3 }],
  [{ id: "lz4" }],
  ["gzip"],
  ["crc32c"],
])("%j", (config) => {
  test("gives back what it took, with and without a stated size", async () => {
    const encoded = await encodeBytes(config, bytes, { itemSize: 4 });
    const before = encoded.slice();
    expect(await decodeBytes(config, encoded, { size: bytes.length })).toEqual(bytes);
    expect(await decodeBytes(config, encoded)).toEqual(bytes);
    expect(encoded).toEqual(before);
    await errorOf(() => decodeBytes(config, encoded, { size: bytes.length - 1 }), "corrupt-chunk");
    await errorOf(() => decodeBytes(config, encoded, { size: bytes.length + 1 }), "corrupt-chunk");
  });
});

test("reads what other software wrote, however large it turns out", async () => {
  const large = new Uint8Array(1_000_000).fill(1);
  expectSame(await decodeBytes({ id: "zlib" }, deflateSync(large)), large);
  expect(await decodeBytes("gzip", Buffer.concat([gzipSync("ab"), gzipSync("cd")]))).toEqual(
    new Uint8Array(Buffer.from("abcd")),
  );
});

test("the item size guides the shuffle", async () => {
  const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };
  const four = await encodeBytes(config, bytes, { itemSize: 4 });
  expect(four[3]).toBe(4);
  expect((await encodeBytes(config, bytes))[3]).toBe(1);
});

test("what is no codec of bytes", async () => {
  await errorOf(() => decodeBytes("bytes", bytes), "invalid-option");
  await errorOf(() => decodeBytes({ id: "nosuch" }, bytes), "unsupported-codec");
  await errorOf(() => decodeBytes({} as CodecJson, bytes), "invalid-option");
  await errorOf(() => encodeBytes({ id: "zlib", level: "x" }, bytes), "invalid-metadata");
});

describe("codecs of objects", () => {
  const values = [{ a: [1, null] }, "é", 2n ** 64n - 1n, -0.5, true];
  test.each<[ObjectCodecJson, readonly unknown[]]>([
    [{ id: "json2" }, values],
    [{ id: "msgpack2" }, values],
    [{ name: "numcodecs.json2", configuration: { sort_keys: false } }, values],
    [{ id: "vlen-array", dtype: "<f4" }, [[1, 2.5], []]],
    [{ id: "vlen-utf8" }, ["", "é", "\ufeff"]],
    ["vlen-utf8", ["a"]],
    [{ name: "vlen-bytes" }, [new Uint8Array([1, 2]), new Uint8Array(0)]],
  ])("%j gives back the values it took", async (config, given) => {
    const encoded = await encodeBytes(config, given);
    const before = encoded.slice();
    expect(await decodeBytes(config, encoded)).toEqual(given);
    expect(await decodeBytes(config, encoded, { size: given.length })).toEqual(given);
    expect(encoded).toEqual(before);
    await errorOf(() => decodeBytes(config, encoded, { size: given.length + 1 }), "corrupt-chunk");
  });

  test("categorize gives strings where its type is object", async () => {
    const config = { id: "categorize", dtype: "|O", labels: ["b", "a"] };
    const encoded = await encodeBytes(config, ["a", "x", "b"]);
    expect([...encoded]).toEqual([2, 0, 1]);
    expect(await decodeBytes(config, encoded)).toEqual(["a", "", "b"]);
  });

  test("`null` is an empty string, and no bytes", async () => {
    const texts = await encodeBytes({ id: "vlen-utf8" }, [null, "a"]);
    expect(await decodeBytes({ id: "vlen-utf8" }, texts)).toEqual(["", "a"]);
    const binary = await encodeBytes({ id: "vlen-bytes" }, [null]);
    expect(await decodeBytes({ id: "vlen-bytes" }, binary)).toEqual([new Uint8Array(0)]);
    const labels = { id: "categorize", dtype: "object", labels: ["a"] };
    expect([...(await encodeBytes(labels, [null, "a"]))]).toEqual([0, 1]);
  });

  test.each<[ObjectCodecJson | CodecJson, readonly unknown[] | Uint8Array]>([
    [{ id: "vlen-utf8" }, [1]],
    [{ id: "vlen-utf8" }, ["\ud800"]],
    [{ id: "vlen-bytes" }, ["a"]],
    [{ id: "json2" }, [() => 1]],
    [{ id: "json2" }, bytes],
    [{ id: "zlib" }, ["a"]],
  ])("%j refuses what is no value of its own", async (config, given) => {
    await errorOf(() => encodeBytes(config as CodecJson, given as Uint8Array), "invalid-option");
  });
});

test("codecs that look at items are given their type", async () => {
  const config = { id: "bitround", keepbits: 3 };
  await errorOf(() => encodeBytes(config, bytes, { itemSize: 4 }), "codec-error");
  const rounded = await encodeBytes(config, bytes, { dataType: "float32" });
  expect(await decodeBytes(config, rounded)).toEqual(rounded);
  expect(rounded).not.toEqual(bytes);
});

describe("codecs of arrays are given the type of the items, and the shape", () => {
  const shorts = Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  const sharding = (codecs: readonly unknown[], shape: readonly number[]) => ({
    name: "sharding_indexed",
    configuration: {
      chunk_shape: shape,
      codecs,
      index_codecs: [{ name: "bytes", configuration: { endian: "little" } }, "crc32c"],
    },
  });
  const big = { name: "bytes", configuration: { endian: "big" } };
  const order = [2, 0, 1];
  // A shape that the codec cannot have is found when it is made.
  const wrong = ["invalid-option", "invalid-metadata"] as const;

  test.each<[string, CodecJson, EncodeBytesOptions]>([
    ["bytes", big, { dataType: "uint16" }],
    ["bytes, of a scalar", big, { dataType: "r96", shape: [] }],
    ["a transpose", { name: "transpose", configuration: { order } }, { dataType: "<i2", shape: [1, 2, 3] }],
    [
      "a transpose of one dimension",
      { name: "transpose", configuration: { order: [0] } },
      { dataType: "int8" },
    ],
    ["bits", { name: "packbits", configuration: { padding_encoding: "first_byte" } }, { dataType: "uint8" }],
    ["a cast", { name: "cast_value", configuration: { data_type: "float32" } }, { dataType: "int16" }],
    ["a scale", { name: "scale_offset", configuration: { scale: 2 } }, { dataType: "int32" }],
    ["a shard", sharding([big, "gzip"], [3, 1]), { dataType: "uint16", shape: [3, 2] }],
    ["a shard of one dimension", sharding([big], [3]), { dataType: "uint16" }],
  ])("%s", async (_, config, options) => {
    const given = options.dataType === "int32" ? new Uint8Array(12).fill(1) : shorts;
    const before = given.slice();
    const encoded = await encodeBytes(config, given, options);
    const stored = encoded.slice();
    expect(await decodeBytes(config, encoded, { ...options, size: given.length })).toEqual(given);
    expect(encoded).toEqual(stored);
    expect(given).toEqual(before);
    await errorOf(() => decodeBytes(config, encoded, { ...options, size: 24, shape: [5] }), ...wrong);
    await errorOf(() => encodeBytes(config, given, { ...options, shape: [5] }), ...wrong);
    await errorOf(() => encodeBytes(config, ["a"], options), "invalid-option");
  });

  test("what they give", async () => {
    expect([...(await encodeBytes(big, shorts, { dataType: "uint16" }))].slice(0, 4)).toEqual([1, 0, 3, 2]);
    const transpose = { name: "transpose", configuration: { order: [1, 0] } };
    const columns = await encodeBytes(transpose, shorts, { dataType: "int8", shape: [2, 6] });
    expect([...columns]).toEqual([0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]);
    const floats = await encodeBytes(
      { name: "cast_value", configuration: { data_type: "float32" } },
      shorts.subarray(0, 2),
      { dataType: "uint8" },
    );
    expect([...new Float32Array(floats.buffer)]).toEqual([0, 1]);
  });

  test.each<[string, CodecJson]>([
    ["bytes", big],
    ["a transpose", { name: "transpose", configuration: { order: [0] } }],
    ["a cast", { name: "cast_value", configuration: { data_type: "float32" } }],
  ])("%s returns how many items there are", async (_, config) => {
    const encoded = await encodeBytes(config, shorts, { dataType: "int16" });
    expect(await decodeBytes(config, encoded, { dataType: "int16" })).toEqual(shorts);
    await errorOf(() => decodeBytes(config, encoded.subarray(1), { dataType: "int16" }), "corrupt-chunk");
  });

  test("errors say what to give", async () => {
    const hintOf = async (config: CodecJson, options: DecodeBytesOptions) =>
      (await errorOf(() => decodeBytes(config, shorts, options), "invalid-option")).details.hint;
    const transpose = { name: "transpose", configuration: { order } };
    registerCodec("test-of-items", (_, { spec }) => ({
      kind: "array-to-array",
      name: "test-of-items",
      encodedSpec: () => spec,
      encode: (data) => data,
      decode: (data) => data,
    }));
    for (const [config, options, option] of [
      [big, {}, "dataType"],
      [transpose, { itemSize: 2 }, "dataType"],
      [transpose, { dataType: "int16" }, "shape"],
      [{ name: "transpose", configuration: { order: "F" } }, { dataType: "int8" }, "shape"],
      ["packbits", { dataType: "bool" }, "size"],
      [sharding([big], [3]), { dataType: "uint16" }, "size"],
      ["zep0007", { dataType: "string" }, "size"],
      [{ id: "test-of-items" }, {}, "dataType"],
    ] as const)
      expect(await hintOf(config, options)).toMatch(option);
    for (const options of [{ shape: [1.5] }, { size: 3 }])
      await errorOf(() => decodeBytes(big, shorts, { dataType: "int16", ...options }), "invalid-option");
    await errorOf(() => decodeBytes({ id: "zlib" }, shorts, { itemSize: 0 }), "invalid-option");
    await errorOf(() => decodeBytes(big, shorts, { dataType: "nosuch" as "int8" }), "unsupported-data-type");
    const strings = { dataType: "string", shape: [1, 1, 1] } as const;
    await errorOf(() => encodeBytes(transpose, ["a"], strings), "invalid-metadata");
  });

  test.each<[string, CodecJson, readonly unknown[], "string" | "binary"]>([
    ["zep0007", { name: "zep0007", configuration: { offset_size: 8 } }, ["", "\0é\0"], "string"],
    ["bytes, which ZEP 7 lays out", "bytes", [Uint8Array.of(0, 255), new Uint8Array(0)], "binary"],
    ["a shard", sharding(["vlen-utf8"], [1]), ["a", "\ufeffb"], "string"],
    ["a shard of ZEP 7", sharding([], [2]), ["a", "\ufeffb"], "string"],
  ])("%s of values", async (_, config, values, dataType) => {
    const encoded = await encodeBytes(config, values, { dataType });
    expect(await decodeBytes(config, encoded, { dataType, size: 2 })).toEqual(values);
    expect(await decodeBytes(config, encoded, { dataType, shape: [2] })).toEqual(values);
    await errorOf(() => decodeBytes(config, encoded.slice(0, 3), { dataType, size: 2 }), "corrupt-chunk");
  });
});

test.each<[CodecJson, EncodeBytesOptions?]>([
  [{ id: "shuffle", elementsize: 8 }],
  [{ id: "delta", dtype: "<f8" }],
  [{ id: "categorize", dtype: "<U2", labels: [] }],
  [{ id: "json2" }, { dataType: "int64" }],
])("%j encodes whole items only", async (config, options) => {
  await errorOf(() => encodeBytes(config, new Uint8Array(12), options), "codec-error");
});

test("filters of v3 take their type from the data where they name none", async () => {
  const integers = new Uint8Array(Int32Array.of(5, 6, 4).buffer);
  const config = { name: "numcodecs.delta", configuration: {} };
  const encoded = await encodeBytes(config, integers, { dataType: "int32" });
  expect([...new Int32Array(encoded.buffer, 0, 3)]).toEqual([5, 1, -2]);
  expect(await decodeBytes(config, encoded, { dataType: "int32" })).toEqual(integers);
  await errorOf(() => encodeBytes(config, integers), "invalid-metadata");
});

test("a tree of numbers, where they are no objects", async () => {
  const floats = new Uint8Array(Float64Array.of(1, -0, Number.NaN).buffer);
  const encoded = await encodeBytes({ id: "json2" }, floats, { dataType: "float64" });
  expect(new TextDecoder().decode(encoded)).toBe('[1.0,-0.0,NaN,"<f8",[3]]');
  const decoded: unknown = await decodeBytes({ id: "json2" } as CodecJson, encoded, { dataType: "float64" });
  expect(decoded).toEqual(floats);
});

test.each(["vlen-utf8", "vlen-bytes"] as const)(
  "`%s` with a count that its bytes cannot hold",
  async (id) => {
    await errorOf(() => decodeBytes({ id }, Uint8Array.of(255, 255, 255, 255)), "corrupt-chunk");
    await errorOf(() => decodeBytes({ id }, Uint8Array.of(0, 0, 0, 128, 0, 0, 0, 0)), "corrupt-chunk");
  },
);
