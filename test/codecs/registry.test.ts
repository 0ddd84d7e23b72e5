// @module-tag registers
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../src/codecs/chain/pipeline.ts";
import type { BytesToBytesCodec, CodecFactory } from "../../src/codecs/codec.ts";
import { BUILTIN_CODECS } from "../../src/codecs/descriptors.ts";
import { codecNames, makeCodec, registerCodec } from "../../src/codecs/registry.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { errorOf, RAW, specOf } from "./support.ts";

const context = {
  spec: specOf([2], RAW(1)),
  itemSize: 1,
  endian: "little",
  pipelineOf: createPipeline,
} as const;
const make = (name: string, configuration = {}) => makeCodec({ name, configuration }, context);

const CONFIGURATIONS: Record<string, object> = {
  cast_value: { data_type: "int8" },
  categorize: { labels: ["a"], dtype: "|O" },
  "vlen-array": { dtype: "<i4" },
  astype: { encode_dtype: "|u1", decode_dtype: "|u1" },
  bitround: { keepbits: 1 },
  delta: { dtype: "|u1" },
  fixedscaleoffset: { dtype: "<f4", offset: 0, scale: 1 },
  quantize: { dtype: "<f4", digits: 1 },
  sharding_indexed: {
    chunk_shape: [1],
    codecs: [{ name: "bytes", configuration: {} }],
    index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
  },
  transpose: { order: [0] },
};

/** Types of items for the codecs that do not take opaque bytes. */
const DATA_TYPES: Record<string, DataType> = {
  cast_value: { kind: "float", size: 4 },
  categorize: { kind: "string" },
  json2: { kind: "object" },
  msgpack2: { kind: "object" },
  scale_offset: { kind: "float", size: 4 },
  "v3.packbits": { kind: "bool", size: 1 },
  "vlen-array": { kind: "object" },
  "vlen-bytes": { kind: "binary" },
  "vlen-utf8": { kind: "string" },
  zep0007: { kind: "string" },
};

test.each(BUILTIN_CODECS)("$name is loaded by its name", async ({ name }) => {
  const dataType = DATA_TYPES[name];
  const made = await makeCodec(
    { name, configuration: { ...CONFIGURATIONS[name] } },
    dataType ? { ...context, spec: specOf([2], dataType) } : context,
  );
  expect(made.name).toBe(name.replace("v3.", ""));
});

describe("what is not known", () => {
  test("is named, with the nearest name", async () => {
    const error = await errorOf(() => make("bloscc"), "unsupported-codec");
    expect(error.details).toMatchObject({ codec: "bloscc", hint: "Did you mean `blosc`?" });
  });

  test("or with all names, when none is near", async () => {
    expect((await errorOf(() => make("wavelet-of-mine"), "unsupported-codec")).details.hint).toContain(
      "zstd",
    );
  });

  test.each(["toString", "__proto__", "constructor"])(
    "%s, a name of every object, is no codec",
    async (name) => {
      await errorOf(() => make(name), "unsupported-codec");
    },
  );

  test.each(["pcodec", "zfpy"])("%s is refused in words", async (name) => {
    const error = await errorOf(() => make(name), "unsupported-codec");
    expect(error.message).toContain("no implementation in JavaScript");
  });

  test("pickle is refused in words", async () => {
    const error = await errorOf(() => make("pickle"), "unsupported-codec");
    expect(error.message).toContain("code");
    expect(error.details.codec).toBe("pickle");
  });
});

describe("a codec of the user's", () => {
  const codec = (name: string): BytesToBytesCodec => ({
    kind: "bytes-to-bytes",
    name,
    maxEncodedSize: (size) => size,
    encodeInto: (source) => source.length,
    decodeInto: (source) => source.length,
  });

  test("by a factory", async () => {
    registerCodec("test-factory", () => codec("test-factory"));
    expect((await make("test-factory")).name).toBe("test-factory");
    expect(codecNames()).toContain("test-factory");
  });

  test("by a loader, which is not called before it is wanted", async () => {
    let loads = 0;
    registerCodec("test-loader", async () => {
      loads++;
      const factory: CodecFactory = (_, { itemSize }) => codec(`test-loader ${itemSize}`);
      return factory;
    });
    expect(loads).toBe(0);
    expect((await make("test-loader")).name).toBe("test-loader 1");
    expect(loads).toBe(1);
  });
});
