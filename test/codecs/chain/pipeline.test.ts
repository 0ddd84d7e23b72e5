// @module-tag registers
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadCodecs } from "../../../src/codecs/chain/codec-chain.ts";
import { type ChunkForm, codecStep } from "../../../src/codecs/chain/codec-step.ts";
import { createPipeline } from "../../../src/codecs/chain/pipeline.ts";
import type { FixedData, VariableData } from "../../../src/codecs/chunk-data.ts";
import type { BytesToBytesCodec, ChunkSpec } from "../../../src/codecs/codec.ts";
import { registerCodec } from "../../../src/codecs/registry.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { product } from "../../../src/util/shape.ts";
import { errorOf, expectSame, GuardedBuffers, randomNumbers, specOf } from "../support.ts";

const codec = (name: string, configuration = {}): CodecConfig => ({ name, configuration });
const INT32: ChunkSpec["dataType"] = { kind: "int", size: 4 };
const BLOSC = codec("blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 });

/** Chains of all kinds over int32 chunks. */
const CHAINS: Record<string, CodecConfig[]> = {
  "bytes alone": [codec("bytes", { endian: "little" })],
  "big-endian": [codec("bytes", { endian: "big" })],
  "Fortran order, blosc": [
    codec("transpose", { order: [2, 1, 0] }),
    codec("bytes", { endian: "little" }),
    BLOSC,
  ],
  "two transposes": [
    codec("transpose", { order: [2, 0, 1] }),
    codec("transpose", { order: [1, 0, 2] }),
    codec("bytes", { endian: "big" }),
  ],
  filters: [
    codec("bytes", { endian: "little" }),
    codec("delta", { dtype: "<i4", astype: "<i8" }),
    codec("shuffle", { elementsize: 8 }),
    codec("zstd", { level: 1 }),
    codec("crc32c"),
  ],
  "two compressors": [
    codec("bytes", { endian: "little" }),
    codec("zlib", { level: 1 }),
    codec("zstd"),
    codec("gzip"),
  ],
};

const SHAPE = [3, 4, 5];
const values = (seed: number) => {
  const random = randomNumbers(seed);
  return new Uint8Array(Int32Array.from({ length: product(SHAPE) }, () => random(50)).buffer);
};

describe.each(Object.entries(CHAINS))("%s", (_, configs) => {
  test("decodes what it encodes, in the layout it states, and gives every buffer back", async () => {
    const pipeline = await createPipeline(configs, specOf(SHAPE, INT32));
    const { strides, decodedSize } = pipeline;
    expect(decodedSize).toBe(240);
    const buffers = new GuardedBuffers();
    const bytes = values(1);
    const data: FixedData = {
      kind: "fixed",
      bytes: buffers.copyOf(bytes),
      itemSize: 4,
      shape: SHAPE,
      strides,
    };
    const encoded = await pipeline.encode(data, buffers);
    expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
    expect(buffers.live).toBe(1);
    const decoded = (await pipeline.decode(encoded, buffers)) as FixedData;
    expect(decoded).toMatchObject({ itemSize: 4, shape: SHAPE, strides });
    expectSame(decoded.bytes, bytes);
    expect(buffers.live).toBe(1);
    buffers.give(decoded.bytes);
  });

  test("equals its codecs one after the other", async () => {
    const spec = specOf(SHAPE, INT32);
    const [pipeline, chain] = await Promise.all([createPipeline(configs, spec), loadCodecs(configs, spec)]);
    const buffers = new GuardedBuffers();
    const data = (): FixedData => ({
      kind: "fixed",
      bytes: buffers.copyOf(values(2)),
      itemSize: 4,
      shape: SHAPE,
      strides: pipeline.strides,
    });
    let form: ChunkForm = data();
    for (const placed of chain) form = await codecStep(placed, "encode", buffers)(form);
    const encoded = await pipeline.encode(data(), buffers);
    expectSame(form as Uint8Array, encoded);
    for (const placed of chain.toReversed()) form = await codecStep(placed, "decode", buffers)(form);
    const decoded = (await pipeline.decode(encoded, buffers)) as FixedData;
    expect(form).toEqual(decoded);
    buffers.give((form as FixedData).bytes);
    buffers.give(decoded.bytes);
    expect(buffers.live).toBe(0);
  });

  test("leaks nothing when the chunk is cut, too long, changed or empty", async () => {
    const pipeline = await createPipeline(configs, specOf(SHAPE, INT32));
    const random = randomNumbers(3);
    const buffers = new GuardedBuffers();
    const { strides } = pipeline;
    const whole = await pipeline.encode(
      { kind: "fixed", bytes: buffers.copyOf(values(4)), itemSize: 4, shape: SHAPE, strides },
      buffers,
    );
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
        expect(["corrupt-chunk", "codec-error", "resource-limit"]).toContain(
          (error as { code: string }).code,
        );
        expect((error as { details: object }).details).toHaveProperty("codec");
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
    const bytes = new TextEncoder().encode("abcdef".replaceAll(/./g, (letter) => letter.repeat(length)));
    const offsets = Uint32Array.from({ length: 7 }, (_, i) => i * length);
    const data: VariableData = { kind: "variable", bytes: buffers.copyOf(bytes), offsets, shape: [2, 3] };
    const encoded = await pipeline.encode(data, buffers);
    const decoded = (await pipeline.decode(encoded, buffers)) as VariableData;
    expectSame(decoded.bytes, bytes);
    expect(decoded.offsets).toEqual(offsets);
    expect(decoded.shape).toEqual([2, 3]);
    buffers.give(decoded.bytes);
    expect(buffers.live).toBe(0);
  });

  test("more than the caller allows is refused, and nothing leaks", async () => {
    const buffers = new GuardedBuffers();
    const bytes = new Uint8Array(300_000).fill(97);
    const offsets = Uint32Array.of(0, 0, 0, 0, 0, 0, 300_000);
    const large = await (await createPipeline(configs, spec)).encode(
      { kind: "variable", bytes: buffers.copyOf(bytes), offsets, shape: [2, 3] },
      buffers,
    );
    const pipeline = await createPipeline(configs, spec, { maxVariableSize: 100_000 });
    await errorOf(() => pipeline.decode(large, buffers), "resource-limit");
    expect(buffers.live).toBe(0);
  });
});

describe("bounds", () => {
  test("a bomb is refused at the size that the metadata promise", async () => {
    const zlib = [codec("bytes", { endian: "little" }), codec("zlib", { level: 9 })];
    const big = await createPipeline(zlib, specOf([4_000_000], INT32));
    const buffers = new GuardedBuffers();
    const data = { kind: "fixed", itemSize: 4, shape: [4_000_000], strides: [1] } as const;
    const bomb = await big.encode({ ...data, bytes: buffers.copyOf(new Uint8Array(16_000_000)) }, buffers);
    const small = await createPipeline(zlib, specOf([64], INT32));
    const error = await errorOf(() => small.decode(bomb, buffers), "corrupt-chunk");
    expect(error.details).toMatchObject({ codec: "zlib", expected: 256 });
    expect(buffers.live).toBe(0);
  });

  test("a short result is refused with both figures", async () => {
    const four = await createPipeline(
      [codec("bytes", { endian: "little" }), codec("zlib")],
      specOf([4], INT32),
    );
    const five = await createPipeline(
      [codec("bytes", { endian: "little" }), codec("zlib")],
      specOf([5], INT32),
    );
    const buffers = new GuardedBuffers();
    const bytes = buffers.copyOf(new Uint8Array(16));
    const encoded = await four.encode(
      { kind: "fixed", bytes, itemSize: 4, shape: [4], strides: [1] },
      buffers,
    );
    const error = await errorOf(() => five.decode(encoded, buffers), "corrupt-chunk");
    expect(error.details).toMatchObject({ codec: "zlib", expected: 20, found: 16 });
    expect(buffers.live).toBe(0);
  });

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
  const pipeline = await createPipeline(
    [codec("bytes", { endian: "little" }), codec("test-later")],
    specOf([1], INT32),
  );
  const buffers = new GuardedBuffers();
  const data = await pipeline.decode(buffers.copyOf(Uint8Array.of(1, 2, 3, 4)), buffers);
  expect([...(await pipeline.encode(data, buffers))]).toEqual([1, 2, 3, 4]);
  const error = await errorOf(
    () => pipeline.decode(buffers.copyOf(Uint8Array.of(255, 0, 0, 0)), buffers),
    "codec-error",
  );
  expect(error.message).toContain("boom");
  expect(error.cause).toBeInstanceOf(TypeError);
});

test("the automatic shuffle and type size of blosc go by the item before it", async () => {
  const header = async (...configs: CodecConfig[]) => {
    const chain = [
      codec("bytes", { endian: "little" }),
      ...configs,
      codec("blosc", { cname: "lz4", clevel: 5, shuffle: "auto" }),
    ];
    const pipeline = await createPipeline(chain, specOf([200], INT32));
    const bytes = new Uint8Array(800);
    const buffers = new GuardedBuffers();
    const data = {
      kind: "fixed",
      bytes: buffers.copyOf(bytes),
      itemSize: 4,
      shape: [200],
      strides: [1],
    } as const;
    const encoded = await pipeline.encode(data, buffers);
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
class MeteredBuffers {
  readonly #sizes = new Map<ArrayBufferLike, number>();
  #held = 0;
  peak = 0;

  take(byteLength: number): Uint8Array {
    const bytes = new Uint8Array(byteLength);
    this.#sizes.set(bytes.buffer, byteLength);
    this.#held += byteLength;
    this.peak = Math.max(this.peak, this.#held);
    return bytes;
  }

  give({ buffer }: Uint8Array): void {
    this.#held -= this.#sizes.get(buffer) ?? 0;
    this.#sizes.delete(buffer);
  }
}
