import { describe, expect, test } from "vitest";
import type { BytesToBytesCodec, CodecFactory } from "../../src/codecs/codec.ts";
import { codecNames, makeCodec, registerCodec } from "../../src/codecs/registry.ts";
import { errorOf, RAW, specOf } from "./support.ts";

const context = { spec: specOf([2], RAW(1)), itemSize: 1, endian: "little" } as const;
const make = (name: string, configuration = {}) => makeCodec({ name, configuration }, context);

const CONFIGURATIONS: Record<string, object> = {
  astype: { encode_dtype: "|u1", decode_dtype: "|u1" },
  bitround: { keepbits: 1 },
  delta: { dtype: "|u1" },
  fixedscaleoffset: { dtype: "<f4", offset: 0, scale: 1 },
  quantize: { dtype: "<f4", digits: 1 },
  transpose: { order: [0] },
};

test.each(codecNames().filter((name) => !name.startsWith("vlen-")))(
  "%s is loaded by its name",
  async (name) => {
    expect((await make(name, CONFIGURATIONS[name])).name).toBe(name);
  },
);

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

  test.each(["toString", "__proto__", "constructor"])("%s is nothing", async (name) => {
    await errorOf(() => make(name), "unsupported-codec");
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
