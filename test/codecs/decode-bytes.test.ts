import { deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../src/codecs/decode-bytes.ts";
import type { CodecJson } from "../../src/codecs/normal-config.ts";
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
