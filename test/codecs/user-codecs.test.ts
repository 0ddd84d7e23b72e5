// @module-tag registers
// @module-tag slow
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import LZ4 from "numcodecs/lz4";
import Zlib from "numcodecs/zlib";
import Zstd from "numcodecs/zstd";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../src/codecs/chain/codec-chain.ts";
import { codecStep } from "../../src/codecs/chain/codec-step.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, Codec, CodecFactory } from "../../src/codecs/codec.ts";
import { codecNames, makeCodec, type NumcodecsCodec, registerCodec } from "../../src/codecs/registry.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone.ts";
import { openArray, slice } from "../../src/index.ts";
import { root } from "../built-package.ts";
import { given } from "../support/given.ts";
import { errorOf, GuardedBuffers, RAW, specOf } from "./support.ts";

const SIZE = 16;
const CONTEXT = { spec: specOf([SIZE], RAW(1)), itemSize: 1, endian: "little" } as const;
const make = (name: string) => makeCodec({ name, configuration: {} }, CONTEXT);
const config = (name: string, configuration = {}) => ({ name, configuration });

/** Copies; what is given replaces parts of it. */
function codecWith(parts: Partial<BytesToBytesCodec>): BytesToBytesCodec {
  const copy = (source: Uint8Array, target: Uint8Array): number => {
    target.set(source);
    return source.length;
  };
  return {
    kind: "bytes-to-bytes",
    name: "test-length",
    maxEncodedSize: (decodedSize) => decodedSize,
    encodeInto: copy,
    decodeInto: copy,
    ...parts,
  };
}

// Firefox 153, once it has compiled a function, takes the result of `fill` for the array that the part was cut from
test("no source uses the result of filling a part of an array", () => {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const found = names.filter((name) => {
    const text = name.endsWith(".ts") ? readFileSync(join(root, "src", name), "utf8") : "";
    return /\.(subarray|take)\([^;]*?\)\s*\.fill\(/.test(text);
  });
  expect(found).toEqual([]);
});

describe("a codec that is not known", () => {
  test("is named, with the nearest name, or with all names", async () => {
    const { details } = await errorOf(() => make("bloscc"), "unsupported-codec");
    expect(details).toMatchObject({ codec: "bloscc", hint: "Did you mean `blosc`?" });
    const error = await errorOf(() => make("wavelet-of-mine"), "unsupported-codec");
    expect(error.details.hint).toContain("zstd");
  });

  test.each([
    ["toString", ""],
    ["__proto__", ""],
    ["constructor", ""],
    ["pcodec", "no implementation in JavaScript"],
    ["zfpy", "no implementation in JavaScript"],
    ["pickle", "code"],
  ])("%s is refused in words", async (name, words) => {
    const error = await errorOf(() => make(name), "unsupported-codec");
    expect(error.message).toContain(words);
    expect(error.details.codec).toBe(name);
  });
});

describe("a codec of the user's", () => {
  test("by a factory, or by a loader, which is not called before it is wanted", async () => {
    registerCodec("test-factory", () => codecWith({ name: "test-factory" }));
    expect((await make("test-factory")).name).toBe("test-factory");
    expect(codecNames()).toContain("test-factory");
    let loads = 0;
    registerCodec("test-loader", async () => {
      loads++;
      const factory: CodecFactory = (_, { itemSize }) => codecWith({ name: `test-loader ${itemSize}` });
      return factory;
    });
    expect(loads).toBe(0);
    expect((await make("test-loader")).name).toBe("test-loader 1");
    expect(loads).toBe(1);
  });
});

const bytes = new Uint8Array(Float32Array.from({ length: 500 }, (_, i) => Math.round(i / 7)).buffer);

describe.each([
  ["their-lz4", LZ4, { acceleration: 2 }, "lz4"],
  ["their-zstd", Zstd, { level: 1 }, "zstd"],
  ["their-zlib", Zlib, { level: 9 }, "zlib"],
] as const)("%s of the package numcodecs", (name, numcodecs, configuration, ours) => {
  registerCodec(name, numcodecs);
  registerCodec(`lazy-${name}`, async () => numcodecs);

  test("gives what ours reads, reads what ours gives, and may give no more or less than is promised", async () => {
    const encoded = await encodeBytes({ id: name, ...configuration }, bytes);
    expect(await decodeBytes({ id: ours }, encoded)).toEqual(bytes);
    expect(await decodeBytes({ id: `lazy-${name}` }, await encodeBytes({ id: ours }, bytes))).toEqual(bytes);
    for (const size of [bytes.length - 1, bytes.length + 1])
      await errorOf(() => decodeBytes({ id: name }, encoded, { size }), "corrupt-chunk");
  });

  test.each(["v2", "v3"] as const)("holds a whole array of %s", async (zarrFormat) => {
    const items = Int32Array.from({ length: 70 }, (_, i) => i * i);
    const codec = zarrFormat === "v2" ? { id: name, ...configuration } : { name, configuration };
    const grid = { shape: [7, 10], chunks: [3, 4], dataType: "int32" };
    const store = await given({ zarrFormat, arrays: { a: { ...grid, codecs: [codec], values: items } } });
    expect((await slice(await openArray({ store, path: "a" })).read()).data).toEqual(items);
  });
});

describe("a class of the user's", () => {
  const register = (name: string, codec: Partial<NumcodecsCodec>) =>
    registerCodec(name, {
      fromConfig: () => ({ encode: (data) => data, decode: (data) => data, ...codec }),
    });

  test("is given its configuration with its id, as plain values, and may refuse it", async () => {
    let given: unknown;
    registerCodec("test-config", {
      fromConfig(config) {
        given = config;
        return { encode: async (data) => data, decode: async (data) => data };
      },
    });
    await encodeBytes({ name: "test-config", configuration: { level: 3, deep: [1.5] } }, bytes);
    expect(given).toEqual({ id: "test-config", level: 3, deep: [1.5] });
    registerCodec("test-refusal", {
      fromConfig() {
        throw new RangeError("no such level");
      },
    });
    const error = await errorOf(() => encodeBytes({ id: "test-refusal" }, bytes), "invalid-metadata");
    expect(error.message).toContain("no such level");
  });

  test("goes by a name of the package's for v3 where it is registered so", async () => {
    for (const name of ["numcodecs.test-named", "test-short"]) register(name, {});
    for (const name of ["numcodecs.test-named", "numcodecs.test-short"])
      expect(await decodeBytes({ name }, bytes)).toEqual(bytes);
  });

  test("that gives too much, no bytes, or fails", async () => {
    register("test-bomb", { encode: () => new Uint8Array(100_000) });
    await errorOf(() => encodeBytes({ id: "test-bomb" }, bytes), "codec-error");
    register("test-text", { decode: (() => "text") as never });
    await errorOf(() => decodeBytes({ id: "test-text" }, bytes), "codec-error");
    register("test-failure", { decode: () => Promise.reject(new Error("bad magic")) });
    const error = await errorOf(() => decodeBytes({ id: "test-failure" }, bytes), "codec-error");
    expect(error.message).toContain("bad magic");
  });
});

describe("a codec of bytes that returns an impossible length", () => {
  async function failing(codec: Codec, direction: "encode" | "decode", decodedSize: number | undefined) {
    const buffers = new GuardedBuffers();
    const step = codecStep({ codec, decodedSize, maxDecodedSize: 64 }, direction, buffers);
    const error = await errorOf(() => step(buffers.take(SIZE)), "codec-error", "corrupt-chunk");
    expect(buffers.live).toBe(0);
    expect(error.details.codec).toBe("test-length");
    return error;
  }

  // In place of the number of bytes that it wrote, or may write, into a target of 16.
  test.each([undefined, null, Number.NaN, Number.POSITIVE_INFINITY, -1, 1e9, 17, 3.5, "8", 8n, {}, true])(
    "%o, at once or late, is refused",
    async (value) => {
      const size = () => value as number;
      for (const answer of [size, () => Promise.resolve(value) as never]) {
        const error = await failing(codecWith({ encodeInto: answer }), "encode", SIZE);
        expect(error.code).toBe("codec-error");
        expect(error.details.expected).toBe(`a whole number from 0 to ${SIZE}`);
        for (const decodedSize of value === 17 ? [SIZE] : [SIZE, undefined]) {
          const { code } = await failing(codecWith({ decodeInto: answer }), "decode", decodedSize);
          expect(code).toBe("codec-error");
        }
      }
      // as a bound, such a length may be larger than what is there
      if (value === 17 || value === 1e9 || value === Number.POSITIVE_INFINITY) return;
      await failing(codecWith({ maxEncodedSize: size }), "encode", SIZE);
      const chain = [config("bytes"), config("test-length")];
      registerCodec("test-length", () => codecWith({ maxEncodedSize: size }));
      await errorOf(() => createPipeline(chain, CONTEXT.spec), "codec-error");
      if (value === undefined) return;
      await failing(codecWith({ statedDecodedSize: size }), "decode", undefined);
      registerCodec("test-length", () => codecWith({ fixedEncodedSize: size }));
      await errorOf(() => createPipeline(chain, CONTEXT.spec), "codec-error");
    },
  );

  test("other than it states is refused", async () => {
    const fewer = codecWith({ statedDecodedSize: () => SIZE, decodeInto: () => SIZE - 1 });
    for (const size of [undefined, SIZE])
      expect((await failing(fewer, "decode", size)).code).toBe("corrupt-chunk");
    const other = codecWith({ fixedEncodedSize: (size) => size, encodeInto: () => SIZE - 1 });
    const error = await failing(other, "encode", SIZE);
    expect(error.details).toMatchObject({ expected: SIZE, found: SIZE - 1 });
  });

  test("by itself, or inside shards, is held to the same", async () => {
    const impossible = { encodeInto: () => undefined as never, decodeInto: () => -1 };
    registerCodec("test-length", () => codecWith(impossible));
    await errorOf(() => encodeBytes({ id: "test-length" }, new Uint8Array(SIZE)), "codec-error");
    await errorOf(() => decodeBytes({ id: "test-length" }, new Uint8Array(SIZE)), "codec-error");
    registerCodec("test-length", () =>
      codecWith({ encodeInto: () => Number.NaN, decodeInto: () => SIZE - 1 }),
    );
    const sharding = config("sharding_indexed", {
      chunk_shape: [SIZE],
      codecs: [config("bytes"), config("test-length")],
      index_codecs: [config("bytes", { endian: "little" })],
      index_location: "end",
    });
    const pipeline = await createPipeline([sharding], CONTEXT.spec);
    const buffers = new GuardedBuffers();
    const data = {
      kind: "fixed",
      bytes: buffers.take(SIZE),
      itemSize: 1,
      shape: [SIZE],
      strides: [1],
    } as const;
    await errorOf(() => pipeline.encode(data, buffers), "codec-error");
    const shard = buffers.take(SIZE + 16);
    shard.set(new Uint8Array(BigUint64Array.of(0n, BigInt(SIZE)).buffer), SIZE);
    await errorOf(() => pipeline.decode(shard, buffers), "corrupt-chunk");
    expect(buffers.live).toBe(0);
  });
});

describe("a codec of arrays", () => {
  const whole = { kind: "fixed", itemSize: 1, shape: [SIZE], strides: [1] } as const;
  const items = (parts: Partial<ArrayToBytesCodec>): ArrayToBytesCodec => ({
    kind: "array-to-bytes",
    name: "test-length",
    encodedSize: SIZE,
    decode: (bytes) => ({ ...whole, bytes }),
    encode: (data) => data.bytes,
    ...parts,
  });
  const pipelineOf = (codec: Codec, spec = CONTEXT.spec) => {
    registerCodec("test-length", () => codec);
    return createPipeline([config("test-length")], spec);
  };

  test.each([
    ["nothing", undefined],
    ["too few bytes", new Uint8Array(SIZE - 1)],
    ["too many bytes", new Uint8Array(SIZE + 1)],
    ["a list", [1, 2]],
  ])("that encodes to %s is refused", async (_, encoded) => {
    const pipeline = await pipelineOf(items({ encode: () => encoded as never }));
    const buffers = new GuardedBuffers();
    const data = { ...whole, bytes: buffers.take(SIZE) };
    await errorOf(() => pipeline.encode(data, buffers), "codec-error");
    expect(buffers.live).toBe(0);
  });

  const sixteen = new Uint8Array(SIZE);
  test.each([
    ["nothing", undefined],
    ["plain bytes", sixteen],
    ["too few bytes", { ...whole, bytes: new Uint8Array(SIZE - 1) }],
    ["items of another size", { ...whole, bytes: sixteen, itemSize: 2 }],
    ["another shape", { ...whole, bytes: sixteen, shape: [4, 4], strides: [4, 1] }],
    ["other strides", { ...whole, bytes: sixteen, strides: [2] }],
    [
      "variable items",
      { kind: "variable", bytes: sixteen, offsets: new Uint32Array(SIZE + 1), shape: [SIZE] },
    ],
  ])("that decodes to %s is refused", async (_, data) => {
    const pipeline = await pipelineOf(items({ decode: () => data as never }));
    await errorOf(() => pipeline.decode(new Uint8Array(SIZE), new GuardedBuffers()), "codec-error");
  });

  test.each([
    ["too few offsets", new Uint32Array(2)],
    ["offsets beyond the bytes", Uint32Array.of(0, 1, 99)],
    ["falling offsets", Uint32Array.of(0, 4, 2)],
  ])("that decodes to items with %s is refused", async (_, offsets) => {
    const variable = { kind: "variable", bytes: new Uint8Array(4), offsets, shape: [2] };
    const codec = items({ encodedSize: undefined, decode: () => variable as never });
    const pipeline = await pipelineOf(codec, specOf([2], { kind: "string" }));
    await errorOf(() => pipeline.decode(new Uint8Array(SIZE), new GuardedBuffers()), "codec-error");
  });
});
