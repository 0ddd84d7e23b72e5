import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../src/codecs/decode-bytes.ts";
import type { CodecJson, ObjectCodecJson } from "../../src/codecs/normal-config.ts";
import { errorOf } from "./support.ts";

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
  expect(await decodeBytes({ id: "zlib" }, deflateSync(large))).toEqual(large);
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
  await errorOf(() => decodeBytes({ id: "zlib", level: "x" }, bytes), "invalid-metadata");
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

  test("categorize gives strings where it is told objects", async () => {
    const config = { id: "categorize", dtype: "|O", labels: ["b", "a"] };
    const encoded = await encodeBytes(config, ["a", "x", "b"]);
    expect([...encoded]).toEqual([2, 0, 1]);
    expect(await decodeBytes(config, encoded)).toEqual(["a", "", "b"]);
  });

  test("what is no value of theirs, and bytes, are refused", async () => {
    await errorOf(() => encodeBytes({ id: "vlen-utf8" }, [1]), "invalid-option");
    await errorOf(() => encodeBytes({ id: "vlen-utf8" }, ["\ud800"]), "invalid-option");
    await errorOf(() => encodeBytes({ id: "vlen-bytes" }, ["a"]), "invalid-option");
    await errorOf(() => encodeBytes({ id: "json2" }, [() => 1]), "invalid-option");
    await errorOf(() => encodeBytes({ id: "json2" }, bytes), "invalid-option");
    await errorOf(() => encodeBytes({ id: "zlib" }, ["a"]), "invalid-option");
  });
});

test("codecs that look at items are told their type", async () => {
  const config = { id: "bitround", keepbits: 3 };
  await errorOf(() => encodeBytes(config, bytes, { itemSize: 4 }), "codec-error");
  const rounded = await encodeBytes(config, bytes, { dataType: "float32" });
  expect(await decodeBytes(config, rounded)).toEqual(rounded);
  expect(rounded).not.toEqual(bytes);
});
