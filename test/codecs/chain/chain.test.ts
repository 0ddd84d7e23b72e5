// @module-tag registers
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline, loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import { type ChunkForm, codecStep } from "../../../src/codecs/chain/codec-step.ts";
import type { FixedData, VariableData } from "../../../src/codecs/chunk-data.ts";
import type { BytesToBytesCodec, ChunkSpec, CodecContext } from "../../../src/codecs/codec.ts";
import { MAX_CHUNK_SIZE } from "../../../src/codecs/limits.ts";
import { registerCodec } from "../../../src/codecs/registry.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import type { Buffers } from "../../../src/util/bytes.ts";
import type { ZarrflowError } from "../../../src/util/errors.ts";
import { product } from "../../../src/util/shape.ts";
import {
  errorOf,
  expectSame,
  GuardedBuffers,
  itemsOf,
  placedCodec,
  RAW,
  randomNumbers,
  specOf,
  utf8,
  variableData,
} from "../support.ts";

const codec = (name: string, configuration = {}): CodecConfig => ({ name, configuration });
const BYTES = codec("bytes", { endian: "little" });
const INT32: ChunkSpec["dataType"] = { kind: "int", size: 4 };
const BLOSC = codec("blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 });

/** Chains of all kinds over int32 chunks. */
const CHAINS: Record<string, CodecConfig[]> = {
  "bytes alone": [BYTES],
  "big-endian": [codec("bytes", { endian: "big" })],
  "Fortran order, blosc": [codec("transpose", { order: [2, 1, 0] }), BYTES, BLOSC],
  "two transposes": [
    codec("transpose", { order: [2, 0, 1] }),
    codec("transpose", { order: [1, 0, 2] }),
    codec("bytes", { endian: "big" }),
  ],
  filters: [
    BYTES,
    codec("delta", { dtype: "<i4", astype: "<i8" }),
    codec("shuffle", { elementsize: 8 }),
    codec("zstd", { level: 1 }),
    codec("crc32c"),
  ],
  "two compressors": [BYTES, codec("zlib", { level: 1 }), codec("zstd"), codec("gzip")],
  "two casts": [
    codec("cast_value", { data_type: "int64" }),
    codec("cast_value", { data_type: "float64" }),
    BYTES,
    codec("zlib", { level: 1 }),
  ],
};

const SHAPE = [3, 4, 5];
const values = (seed: number) => {
  const random = randomNumbers(seed);
  return new Uint8Array(Int32Array.from({ length: product(SHAPE) }, () => random(50)).buffer);
};

describe.each(Object.entries(CHAINS))("%s", (_, configs) => {
  const made = async (buffers: GuardedBuffers) => {
    const pipeline = await createPipeline(configs, specOf(SHAPE, INT32));
    const { strides } = pipeline;
    const data = (seed: number): FixedData => ({
      ...{ kind: "fixed", bytes: buffers.copyOf(values(seed)), itemSize: 4, shape: SHAPE, strides },
    });
    return { pipeline, data };
  };

  test("decodes what it encodes, as its codecs do one after the other, and gives every buffer back", async () => {
    const buffers = new GuardedBuffers();
    const { pipeline, data } = await made(buffers);
    expect(pipeline.decodedSize).toBe(240);
    const encoded = await pipeline.encode(data(1), buffers);
    expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
    expect(buffers.live).toBe(1);
    const chain = await loadCodecs(configs, specOf(SHAPE, INT32));
    let form: ChunkForm = data(1);
    for (const placed of chain) form = await codecStep(placed, "encode", buffers)(form);
    expectSame(form as Uint8Array, encoded);
    for (const placed of chain.toReversed()) form = await codecStep(placed, "decode", buffers)(form);
    const decoded = (await pipeline.decode(encoded, buffers)) as FixedData;
    expect(decoded).toMatchObject({ itemSize: 4, shape: SHAPE, strides: pipeline.strides });
    expectSame(decoded.bytes, values(1));
    expect(form).toEqual(decoded);
    for (const { bytes } of [form as FixedData, decoded]) buffers.give(bytes);
    expect(buffers.live).toBe(0);
  });

  test("leaks nothing when the chunk is cut, too long, changed or empty", async () => {
    const random = randomNumbers(3);
    const buffers = new GuardedBuffers();
    const { pipeline, data } = await made(buffers);
    const whole = await pipeline.encode(data(4), buffers);
    const original = whole.slice();
    buffers.give(whole);
    const changes: Uint8Array[] = [new Uint8Array(0), Uint8Array.from([...original, 1, 2, 3])];
    for (let round = 0; round < 100; round++) {
      changes.push(original.slice(0, random(original.length)));
      const changed = original.slice();
      changed[random(changed.length)] = random(256);
      changes.push(changed);
    }
    for (const bytes of changes) {
      try {
        const data = (await pipeline.decode(buffers.copyOf(bytes), buffers)) as FixedData;
        expect(data.bytes.length).toBe(240);
        buffers.give(data.bytes);
      } catch (error) {
        const { code, details } = error as ZarrflowError;
        expect(["corrupt-chunk", "codec-error", "resource-limit"]).toContain(code);
        expect(details).toHaveProperty("codec");
      }
      expect(buffers.live).toBe(0);
    }
  });
});

describe("strings", () => {
  const spec = specOf([2, 3], { kind: "string" });
  const configs = [codec("transpose", { order: [1, 0] }), codec("vlen-utf8"), codec("zlib", { level: 1 })];

  test.each([10, 40_000])("items of %i bytes are found however large they turn out", async (length) => {
    const pipeline = await createPipeline(configs, spec);
    expect(pipeline.strides).toEqual([3, 1]);
    const buffers = new GuardedBuffers();
    const items = [..."abcdef"].map((letter) => utf8(letter.repeat(length)));
    const encoded = await pipeline.encode(variableData(items, [2, 3], buffers), buffers);
    const decoded = (await pipeline.decode(encoded, buffers)) as VariableData;
    expect(itemsOf(decoded)).toEqual(items);
    expect(decoded.shape).toEqual([2, 3]);
    buffers.give(decoded.bytes);
    expect(buffers.live).toBe(0);
  });

  test("more than the caller allows is refused, and nothing leaks", async () => {
    const buffers = new GuardedBuffers();
    const items = ["", "", "", "", "", "a".repeat(300_000)].map(utf8);
    const writer = await createPipeline(configs, spec);
    const large = await writer.encode(variableData(items, [2, 3], buffers), buffers);
    const pipeline = await createPipeline(configs, spec, { maxVariableSize: 100_000 });
    await errorOf(() => pipeline.decode(large, buffers), "resource-limit");
    expect(buffers.live).toBe(0);
  });
});

describe("bounds", () => {
  test.each([
    ["a bomb", 4_000_000, 64, { expected: 256 }],
    ["a short result", 4, 5, { expected: 20, found: 16 }],
  ])(
    "%s is refused at the size that the metadata promise, with both figures",
    async (_, written, read, sizes) => {
      const configs = [BYTES, codec("zlib", { level: 9 })];
      const writer = await createPipeline(configs, specOf([written], INT32));
      const buffers = new GuardedBuffers();
      const bytes = buffers.copyOf(new Uint8Array(4 * written));
      const data = { kind: "fixed", bytes, itemSize: 4, shape: [written], strides: [1] } as const;
      const encoded = await writer.encode(data, buffers);
      const reader = await createPipeline(configs, specOf([read], INT32));
      const error = await errorOf(() => reader.decode(encoded, buffers), "corrupt-chunk");
      expect(error.details).toMatchObject({ codec: "zlib", ...sizes });
      expect(buffers.live).toBe(0);
    },
  );

  test("what a step holds stays within the stated scratch", async () => {
    for (const configs of Object.values(CHAINS)) {
      const shape = [30, 40, 50];
      const pipeline = await createPipeline(configs, specOf(shape, INT32));
      const meter = new MeteredBuffers();
      const bytes = meter.take(product(shape) * 4).fill(1);
      const { strides, decodedSize, maxEncodedSize, scratchSize } = pipeline;
      const encoded = await pipeline.encode({ kind: "fixed", bytes, itemSize: 4, shape, strides }, meter);
      const decoded = await pipeline.decode(encoded, meter);
      meter.give(decoded.bytes);
      expect(meter.peak).toBeLessThanOrEqual(decodedSize + maxEncodedSize + scratchSize);
    }
  });
});

test("data that are not a whole chunk in its layout are refused and given back", async () => {
  const configs = CHAINS["Fortran order, blosc"] ?? [];
  const pipeline = await createPipeline(configs, specOf(SHAPE, INT32));
  const buffers = new GuardedBuffers();
  const data = (): FixedData => ({
    kind: "fixed",
    bytes: buffers.copyOf(values(1)),
    itemSize: 4,
    shape: SHAPE,
    strides: pipeline.strides,
  });
  await errorOf(() => pipeline.encode({ ...data(), strides: [20, 5, 1] }, buffers), "codec-error");
  await errorOf(() => pipeline.encode({ ...data(), shape: [3, 4, 4] }, buffers), "codec-error");
  const short = data();
  await errorOf(() => pipeline.encode({ ...short, bytes: short.bytes.subarray(4) }, buffers), "codec-error");
  expect(buffers.live).toBe(0);
});

test("a codec of the user's may answer later, and what it throws is wrapped once", async () => {
  const later: BytesToBytesCodec = {
    kind: "bytes-to-bytes",
    name: "test-later",
    maxEncodedSize: (size) => size,
    async encodeInto(source, target) {
      await Promise.resolve();
      target.set(source);
      return source.length;
    },
    async decodeInto(source, target) {
      await Promise.resolve();
      if (source[0] === 255) throw new TypeError("boom");
      target.set(source);
      return source.length;
    },
  };
  registerCodec("test-later", () => later);
  const pipeline = await createPipeline([BYTES, codec("test-later")], specOf([1], INT32));
  const buffers = new GuardedBuffers();
  const data = await pipeline.decode(buffers.copyOf(Uint8Array.of(1, 2, 3, 4)), buffers);
  expect([...(await pipeline.encode(data, buffers))]).toEqual([1, 2, 3, 4]);
  const error = await errorOf(
    () => pipeline.decode(buffers.copyOf(Uint8Array.of(255, 0, 0, 0)), buffers),
    "codec-error",
  );
  expect(error.message).toBe("codec test-later: cannot decode: boom");
  expect(error.cause).toBeInstanceOf(TypeError);
});

test("the automatic shuffle and type size of blosc go by the item before it", async () => {
  const header = async (...configs: CodecConfig[]) => {
    const chain = [BYTES, ...configs, codec("blosc", { cname: "lz4", clevel: 5, shuffle: "auto" })];
    const pipeline = await createPipeline(chain, specOf([200], INT32));
    const bytes = new Uint8Array(800);
    const data = { kind: "fixed", bytes, itemSize: 4, shape: [200], strides: [1] } as const;
    const encoded = await pipeline.encode(data, new MeteredBuffers());
    return { flags: (encoded[2] ?? 0) & 5, typeSize: encoded[3] };
  };
  expect(await header()).toEqual({ flags: 1, typeSize: 4 });
  expect(await header(codec("delta", { dtype: "<i4", astype: "<i2" }))).toEqual({ flags: 1, typeSize: 2 });
  expect(await header(codec("crc32c"))).toEqual({ flags: 4, typeSize: 1 });
});

test("any shape round-trips through any permutation", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
      fc.nat(1000),
      async (shape, seed) => {
        const random = randomNumbers(seed);
        const order = shape.map((_, d) => d).sort(() => random(3) - 1);
        const configs = [codec("transpose", { order }), codec("bytes", { endian: "big" }), BLOSC];
        const pipeline = await createPipeline(configs, specOf(shape, INT32));
        const bytes = Uint8Array.from({ length: product(shape) * 4 }, () => random(256));
        const buffers = new GuardedBuffers();
        const { strides } = pipeline;
        const data = { kind: "fixed", bytes: buffers.copyOf(bytes), itemSize: 4, shape, strides } as const;
        const decoded = (await pipeline.decode(await pipeline.encode(data, buffers), buffers)) as FixedData;
        expectSame(decoded.bytes, bytes);
        expect(decoded.strides).toEqual(strides);
      },
    ),
    { numRuns: 50 },
  ));

/** Buffers that know the most bytes held at one time. */
class MeteredBuffers implements Buffers {
  #held = 0;
  peak = 0;

  take(byteLength: number): Uint8Array {
    this.#held += byteLength;
    this.peak = Math.max(this.peak, this.#held);
    return new Uint8Array(byteLength);
  }

  give({ buffer }: Uint8Array): void {
    this.#held -= buffer.byteLength;
  }
}

test("a step refuses the other form of a chunk, and gives it back", async () => {
  const configs = [codec("transpose", { order: [0] }), codec("bytes"), codec("zlib")];
  const chain = await loadCodecs(configs, specOf([4], RAW(1)));
  const buffers = new GuardedBuffers();
  const bytes = () => buffers.take(4);
  const data = () => ({ kind: "fixed", bytes: bytes(), itemSize: 1, shape: [4], strides: [1] }) as const;
  const [transpose, toBytes, zlib] = chain;
  if (!transpose || !toBytes || !zlib) throw new Error("codecs are missing");
  await errorOf(() => codecStep(transpose, "decode", buffers)(bytes()), "codec-error");
  await errorOf(() => codecStep(toBytes, "encode", buffers)(bytes()), "codec-error");
  await errorOf(() => codecStep(toBytes, "decode", buffers)(data()), "codec-error");
  await errorOf(() => codecStep(zlib, "decode", buffers)(data()), "codec-error");
  expect(buffers.live).toBe(0);
});

test("takes what it is given: one buffer in, one buffer out, new ones where there is no pool", async () => {
  const buffers = new GuardedBuffers();
  const placed = await placedCodec("zlib", { level: 1 }, 100);
  const encoded = await codecStep(placed, "encode", buffers)(buffers.take(100));
  expect(buffers.live).toBe(1);
  await codecStep(placed, "decode", buffers)(encoded);
  expect(buffers.live).toBe(1);
  const lz4 = await placedCodec("lz4", {}, 3);
  const block = await codecStep(lz4, "encode")(Uint8Array.of(1, 2, 3));
  expect(await codecStep(lz4, "decode")(block)).toEqual(Uint8Array.of(1, 2, 3));
});

test("what a codec answers late may be anything that can be waited for", async () => {
  const buffers = new GuardedBuffers();
  const { codec: _, ...sizes } = await placedCodec("zlib", { level: 1 }, 100);
  const late = (_: unknown, fail: (error: Error) => void) => fail(new Error("no such items"));
  // biome-ignore lint/suspicious/noThenProperty: no promise of this realm's, but waited for as one
  const codec = { kind: "array-to-bytes", name: "late", decode: () => ({ then: late }) } as never;
  const error = await errorOf(
    () => codecStep({ ...sizes, codec }, "decode", buffers)(buffers.take(4)),
    "codec-error",
  );
  expect(error.cause).toMatchObject({ message: "no such items" });
  expect(buffers.live).toBe(0);
});

const FLOAT64: DataType = { kind: "float", size: 8 };

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
