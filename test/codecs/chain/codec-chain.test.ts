// @module-tag registers
import { describe, expect, test } from "vitest";
import { loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import type { CodecContext } from "../../../src/codecs/codec.ts";
import { MAX_CHUNK_SIZE } from "../../../src/codecs/limits.ts";
import { registerCodec } from "../../../src/codecs/registry.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import { errorOf, specOf } from "../support.ts";

const FLOAT64: DataType = { kind: "float", size: 8 };
const codec = (name: string, configuration = {}): CodecConfig => ({ name, configuration });
const BYTES = codec("bytes", { endian: "little" });

describe("order", () => {
  test.each([
    ["no codec at all", []],
    ["none that makes bytes", [codec("transpose", { order: [0] })]],
    ["bytes before the array is bytes", [codec("zlib"), BYTES]],
    ["an array codec behind bytes", [BYTES, codec("transpose", { order: [0] })]],
    ["two that make bytes", [BYTES, BYTES]],
  ])("%s", async (_, configs) => {
    const error = await errorOf(() => loadCodecs(configs, specOf([4], FLOAT64)), "invalid-metadata");
    expect(error.details.pointer).toBe("/codecs");
  });

  test("errors of one codec point at it, as its document does", async () => {
    const pointer = "/compressor/id";
    const stated = { ...codec("nosuch"), stated: { zarrFormat: "v2", json: {}, pointer } } as const;
    const error = await errorOf(() => loadCodecs([BYTES, stated], specOf([4], FLOAT64)), "unsupported-codec");
    expect(error.details).toMatchObject({ codec: "nosuch", pointer });
    const unstated = await errorOf(
      () => loadCodecs([BYTES, codec("zlib", { level: 10 })], specOf([4], FLOAT64), { isWritten: true }),
      "invalid-metadata",
    );
    expect(unstated.details).toMatchObject({ codec: "zlib", pointer: "/codecs/1/configuration/level" });
  });
});

test("sizes are computed through filters, and unknown behind compressors", async () => {
  const configs = [
    codec("transpose", { order: [1, 0] }),
    BYTES,
    codec("delta", { dtype: "<f8", astype: "<f4" }),
    codec("crc32"),
    codec("zlib"),
    codec("crc32c"),
  ];
  const chain = await loadCodecs(configs, specOf([100, 10], FLOAT64));
  expect(chain.map(({ decodedSize }) => decodedSize)).toEqual([8000, 8000, 8000, 4000, 4004, undefined]);
  const last = chain.at(-1);
  expect(last?.maxDecodedSize).toBeGreaterThan(4004);
  expect(last?.maxDecodedSize).toBeLessThan(4 * 4004 + 65_536);
});

test("each codec is given its place: shape, item size, byte order", async () => {
  const contexts: CodecContext[] = [];
  registerCodec("test-context", (_, context) => {
    contexts.push(context);
    return {
      kind: "bytes-to-bytes",
      name: "test-context",
      encodedDataType: { kind: "raw", size: context.itemSize },
      maxEncodedSize: (size) => size,
      encodeInto: (source) => source.length,
      decodeInto: (source) => source.length,
    };
  });
  const spy = codec("test-context");
  const configs = [
    codec("transpose", { order: [1, 0] }),
    codec("bytes", { endian: "big" }),
    spy,
    codec("astype", { decode_dtype: ">f8", encode_dtype: ">i2" }),
    spy,
    codec("shuffle", { elementsize: 2 }),
    spy,
  ];
  await loadCodecs(configs, specOf([3, 5], FLOAT64));
  expect(contexts.map(({ itemSize }) => itemSize)).toEqual([8, 2, 1]);
  expect(contexts[0]).toMatchObject({ endian: "big", spec: { shape: [5, 3] } });
});

describe("limits", () => {
  test("chunks above 2 GiB", async () => {
    const error = await errorOf(() => loadCodecs([BYTES], specOf([2 ** 28], FLOAT64)), "resource-limit");
    expect(error.details).toMatchObject({ expected: MAX_CHUNK_SIZE, found: 2 ** 31 });
    await errorOf(
      () => loadCodecs([codec("vlen-utf8")], specOf([2 ** 40], { kind: "string" })),
      "resource-limit",
    );
  });

  test("variable data may have what the caller allows", async () => {
    const spec = specOf([4], { kind: "string" });
    const [vlen] = await loadCodecs([codec("vlen-utf8")], spec);
    expect(vlen).toMatchObject({ decodedSize: undefined, maxDecodedSize: MAX_CHUNK_SIZE });
    const [, zlib] = await loadCodecs([codec("vlen-utf8"), codec("zlib")], spec, { maxVariableSize: 1000 });
    expect(zlib?.maxDecodedSize).toBe(1000);
  });
});
