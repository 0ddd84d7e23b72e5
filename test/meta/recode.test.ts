import { describe, expect, it } from "vitest";
import type { CodecConfig } from "../../src/meta/array-metadata.ts";
import { askedCodecs, type CodecText } from "../../src/meta/codec-option.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { recoded } from "../../src/meta/recode.ts";

const bytes = { name: "bytes", configuration: { endian: "little" } };
const big = { name: "bytes", configuration: { endian: "big" } };
const order = { name: "transpose", configuration: { order: [1, 0] } };
const zstd = (level: number) => ({ name: "zstd", configuration: { level } });
const crc32c = { name: "crc32c", configuration: {} };
const delta = { name: "delta", configuration: { dtype: "<i4" } };

const typeOf = (name: string): DataType => parseDataTypeOption(name).dataType;

/** The codecs of an array that becomes those of a text. */
function becoming(codecs: readonly CodecConfig[], dataType: string, text: string): object[] {
  const all = recoded({ codecs, dataType: typeOf(dataType) }, askedCodecs(text as CodecText));
  return all.map(({ name, configuration }) => ({ name, configuration }));
}

describe("recoded", () => {
  it.each([
    [
      "a compressor, for compressors alone",
      [bytes, delta, zstd(3), crc32c],
      "int32",
      "zstd:9",
      [bytes, delta, zstd(9), crc32c],
    ],
    ["none, likewise", [order, bytes, delta, zstd(3)], "int32", "none", [order, bytes, delta]],
    [
      "a list, for all but order and serializer",
      [order, big, delta, zstd(3), crc32c],
      "int32",
      "zstd:9,crc32c",
      [order, big, zstd(9), crc32c],
    ],
    [
      "filters with the type of the array",
      [big, zstd(3)],
      "int16",
      "delta,zstd:9",
      [big, { name: "delta", configuration: { dtype: ">i2" } }, zstd(9)],
    ],
    [
      "filters one after the other",
      [bytes],
      "float64",
      "fixedscaleoffset:10:100:int16,delta,shuffle",
      [
        bytes,
        { name: "fixedscaleoffset", configuration: { offset: 10, scale: 100, astype: "<i2", dtype: "<f8" } },
        { name: "delta", configuration: { dtype: "<i2" } },
        { name: "shuffle", configuration: { elementsize: 2 } },
      ],
    ],
    [
      "an order and a serializer that are asked for",
      [order, bytes],
      "uint16",
      "transpose:0:1,bytes:big,zstd:1",
      [{ name: "transpose", configuration: { order: [0, 1] } }, big, zstd(1)],
    ],
    [
      "a byte order where a cast needs one",
      [{ name: "bytes", configuration: {} }],
      "uint8",
      "cast_value:int16,zstd:1",
      [{ name: "cast_value", configuration: { data_type: "int16" } }, bytes, zstd(1)],
    ],
    [
      "no byte order where nothing needs one",
      [],
      "uint8",
      "bytes:big",
      [{ name: "bytes", configuration: {} }],
    ],
    [
      "booleans as bits",
      [{ name: "bytes", configuration: {} }],
      "bool",
      "packbits",
      [
        { name: "bytes", configuration: {} },
        { name: "packbits", configuration: {} },
      ],
    ],
    [
      "what makes bytes of text",
      [{ name: "vlen-utf8", configuration: {} }, zstd(3)],
      "string",
      "gzip:1,crc32c",
      [{ name: "vlen-utf8", configuration: {} }, { name: "gzip", configuration: { level: 1 } }, crc32c],
    ],
  ] as const)("takes %s", (_, codecs, dataType, text, expected) => {
    expect(becoming(codecs as readonly CodecConfig[], dataType, text)).toEqual(expected);
  });

  it("changes the codecs in shards", () => {
    const sharding = {
      name: "sharding_indexed",
      configuration: { chunk_shape: [2], codecs: [bytes, zstd(3)] },
    };
    expect(becoming([sharding, crc32c], "float32", "bitround:4,zstd:9")).toEqual([
      {
        name: "sharding_indexed",
        configuration: {
          chunk_shape: [2],
          codecs: [bytes, { name: "bitround", configuration: { keepbits: 4 } }, zstd(9)],
        },
      },
      crc32c,
    ]);
  });

  it.each([
    ["int16", "bitround:4", { reason: "bitround encodes floats only", details: { found: "<i2" } }],
    ["float32", "bitround:24", { details: { expected: "at most 23 for float32", found: "24" } }],
    ["float64", "fixedscaleoffset:0:1:i2,bitround:4", { reason: "bitround encodes floats only" }],
    [
      "string",
      "delta,zstd",
      { reason: "delta encodes integers or floats only", details: { found: "string" } },
    ],
    ["uint8", "packbits", { reason: "packbits encodes booleans only" }],
    ["float32", "quantize:3:xx", { code: "unsupported-data-type" }],
  ])("refuses for %s %s", (dataType, text, error) => {
    const { details, ...rest } = { code: "invalid-option", ...error } as { code: string; details?: object };
    expect(() => becoming([bytes], dataType, text)).toThrow(
      expect.objectContaining({ ...rest, ...(details && { details: expect.objectContaining(details) }) }),
    );
  });
});
