import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../../src/codecs/chain/pipeline.ts";
import type { ChunkSpec } from "../../../../src/codecs/codec.ts";
import type { CodecConfig } from "../../../../src/meta/array-metadata.ts";
import type { JsonObject, JsonValue } from "../../../../src/util/json-value.ts";
import { coordsOf, cStrides, product } from "../../../../src/util/shape.ts";
import { crc32c } from "../../kernels/plain-kernels.ts";
import { errorOf, GuardedBuffers, RAW } from "../../support.ts";

const BYTES = { name: "bytes", configuration: {} };
const LITTLE = { name: "bytes", configuration: { endian: "little" } };
const CRC = { name: "crc32c", configuration: {} };

function sharding(chunkShape: readonly number[], others: JsonObject = {}) {
  const configuration = { codecs: [BYTES], index_codecs: [LITTLE, CRC], index_location: "end", ...others };
  return { name: "sharding_indexed", configuration: { chunk_shape: [...chunkShape], ...configuration } };
}

/** A shard of inner chunks of 2 x 2 single bytes, in a shard of 4 x 4; index without checksum, at its end. */
const SQUARE: ChunkSpec = { shape: [4, 4], dataType: RAW(1), fillValue: Uint8Array.of(7) };
const square = (others: JsonObject = {}) =>
  createPipeline([sharding([2, 2], { index_codecs: [LITTLE], ...others })], SQUARE);

function shardOf(values: readonly number[], entries: readonly (readonly [bigint, bigint])[]): Uint8Array {
  const words = BigUint64Array.from(entries.flat());
  return Uint8Array.from([...values, ...new Uint8Array(words.buffer)]);
}

const MISSING = [2n ** 64n - 1n, 2n ** 64n - 1n] as const;

async function decoded(pipeline: Awaited<ReturnType<typeof square>>, shard: Uint8Array): Promise<number[]> {
  const buffers = new GuardedBuffers();
  const data = await pipeline.decode(buffers.copyOf(shard), buffers);
  expect(buffers.live).toBe(1);
  return [...data.bytes];
}

describe("an index", () => {
  test("says where inner chunks lie: in any order, with gaps, twice the same bytes", async () => {
    const shard = shardOf([9, 9, 1, 2, 3, 4], [[2n, 4n], MISSING, [2n, 4n], [0n, 4n]]);
    expect(await decoded(await square(), shard)).toEqual([1, 2, 7, 7, 3, 4, 7, 7, 1, 2, 9, 9, 3, 4, 1, 2]);
  });

  test("stands at the start where that is stated, and offsets count from there", async () => {
    const { bytes } = await encodedSquare({ index_location: "start" });
    const words = new BigUint64Array(bytes.slice(0, 64).buffer);
    expect([...words]).toEqual([64n, 4n, ...MISSING, 68n, 4n, 72n, 4n]);
    expect([...bytes.subarray(64)]).toEqual([0, 1, 4, 5, 8, 9, 12, 13, 10, 11, 14, 15]);
  });

  test("stands at the end, little-endian, with its CRC-32C", async () => {
    const { bytes } = await encodedSquare({ index_codecs: [LITTLE, CRC] });
    expect(bytes.length).toBe(12 + 4 * 16 + 4);
    const index = bytes.slice(12, 76);
    expect([...new BigUint64Array(index.buffer)]).toEqual([0n, 4n, ...MISSING, 4n, 4n, 8n, 4n]);
    expect(new DataView(bytes.buffer, bytes.byteOffset + 76).getUint32(0, true)).toBe(crc32c(index));
  });

  test("may be big-endian", async () => {
    const big = { name: "bytes", configuration: { endian: "big" } };
    const { bytes } = await encodedSquare({ index_codecs: [big] });
    expect(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(12 + 8)).toBe(4n);
  });
});

/** 0 to 15, but with nothing but the fill value in the second inner chunk. */
async function encodedSquare(others: JsonObject): Promise<{ bytes: Uint8Array }> {
  const pipeline = await square(others);
  const buffers = new GuardedBuffers();
  const items = Uint8Array.from({ length: 16 }, (_, i) => ([2, 3, 6, 7].includes(i) ? 7 : i));
  const data = { kind: "fixed", bytes: buffers.copyOf(items), itemSize: 1, shape: [4, 4] } as const;
  const bytes = await pipeline.encode({ ...data, strides: [4, 1] }, buffers);
  expect(buffers.live).toBe(1);
  return { bytes: bytes.slice() };
}

describe("hostile shards are refused, and name the inner chunk", () => {
  const good = [0n, 4n] as const;
  test.each([
    ["an offset outside", [5n, 4n]],
    ["a length outside", [0n, 100n]],
    ["a length of 2^63", [0n, 2n ** 63n]],
    ["an end beyond 2^64", [2n ** 64n - 2n, 4n]],
    ["half an empty entry", [2n ** 64n - 1n, 4n]],
    ["the other half", [4n, 2n ** 64n - 1n]],
    ["a length that is none of an inner chunk", [0n, 3n]],
    ["a length of 0", [0n, 0n]],
  ] as const)("%s", async (name, entry) => {
    const shard = shardOf([1, 2, 3, 4], [good, good, entry, good]);
    const wrong = name === "an offset outside" ? shardOf([1, 2, 3, 4], [good, good, [67n, 4n], good]) : shard;
    const error = await errorOf(async () => decoded(await square(), wrong), "corrupt-chunk");
    expect(error.message).toContain("inner chunk 1.0: ");
  });

  test("a range may reach into the index", async () => {
    const shard = shardOf([1, 2, 3, 4], [good, good, good, [2n, 4n]]);
    expect((await decoded(await square(), shard)).slice(-2)).toEqual([0, 0]);
  });

  test.each([0, 1, 63])("%i bytes are no index", async (length) => {
    const error = await errorOf(async () => decoded(await square(), new Uint8Array(length)), "corrupt-chunk");
    expect(error.details).toMatchObject({ expected: 64, found: length });
  });

  test("a wrong checksum of the index", async () => {
    const { bytes } = await encodedSquare({ index_codecs: [LITTLE, CRC] });
    bytes[20] = 1;
    const pipeline = await square({ index_codecs: [LITTLE, CRC] });
    const error = await errorOf(() => decoded(pipeline, bytes), "corrupt-chunk");
    expect(error.message).toContain("the shard's index: ");
  });

  test("leave no buffer behind", async () => {
    const buffers = new GuardedBuffers();
    const shard = buffers.copyOf(shardOf([1, 2, 3, 4], [good, good, good, [0n, 3n]]));
    await errorOf(async () => (await square()).decode(shard, buffers), "corrupt-chunk");
    expect(buffers.live).toBe(0);
  });
});

describe("a configuration", () => {
  test.each([
    ["whose inner chunks do not divide the shard", { chunk_shape: [3, 2] }],
    ["of another rank", { chunk_shape: [2] }],
    ["without a shape", { chunk_shape: null }],
    ["with a compressor of the index", { index_codecs: [LITTLE, { name: "gzip", configuration: {} }] }],
    ["with an index elsewhere", { index_location: "middle" }],
    ["without codecs", { codecs: [] }],
  ])("%s is refused", async (_, others) => {
    await errorOf(() => square(others as JsonObject), "invalid-metadata");
  });

  test("nested deeper than anyone would is refused", async () => {
    let codec: { name: string; configuration: JsonObject } = BYTES;
    for (let depth = 0; depth < 12; depth++) codec = sharding([4, 4], { codecs: [{ ...codec }] });
    await errorOf(() => createPipeline([codec], SQUARE), "resource-limit");
  });

  test("of more inner chunks than an index may have is refused before it is made", async () => {
    const spec = { ...SQUARE, shape: [2 ** 15, 2 ** 15] };
    await errorOf(() => createPipeline([sharding([1, 1])], spec), "resource-limit");
  });
});

const axis = fc.record({
  inner: fc.integer({ min: 1, max: 4 }),
  chunks: fc.integer({ min: 1, max: 3 }),
  nested: fc.integer({ min: 1, max: 2 }),
});
const INNER: readonly JsonValue[][] = [
  [BYTES],
  [BYTES, CRC],
  [BYTES, { name: "gzip", configuration: { level: 1 } }],
  [BYTES, { name: "zstd", configuration: { level: 0 } }],
];

/** Any pipeline with shards in it, nested or not, with transposes and codecs around them. */
const recipe = fc
  .record({
    axes: fc.array(axis, { maxLength: 3 }),
    inner: fc.constantFrom(...INNER),
    reversed: fc.boolean(),
    innerReversed: fc.boolean(),
    nested: fc.boolean(),
    outer: fc.constantFrom<JsonValue[]>([], [CRC], [{ name: "gzip", configuration: { level: 1 } }]),
    location: fc.constantFrom("start", "end"),
    checked: fc.boolean(),
    filled: fc.double({ min: 0, max: 1, noNaN: true }),
    itemSize: fc.constantFrom(1, 2, 8),
    seed: fc.nat(),
  })
  .map(({ axes, inner, reversed, innerReversed, nested, outer, location, checked, ...rest }) => {
    const order = axes.map((_, d) => axes.length - 1 - d);
    const permuted = <T>(values: T[]) => (reversed ? values.toReversed() : values);
    const shape = axes.map((a) => a.inner * a.chunks * a.nested);
    const transpose = { name: "transpose", configuration: { order } };
    const index = { index_location: location, index_codecs: checked ? [LITTLE, CRC] : [LITTLE] };
    const innermost = sharding(permuted(axes.map((a) => a.inner)), {
      ...index,
      codecs: [...(innerReversed ? [transpose] : []), ...inner],
    });
    const shard = nested
      ? sharding(permuted(axes.map((a) => a.inner * a.chunks)), { ...index, codecs: [{ ...innermost }] })
      : innermost;
    return { shape, codecs: [...(reversed ? [transpose] : []), shard, ...outer] as CodecConfig[], ...rest };
  });

test("shards come back as they were, item by item", async () => {
  await fc.assert(
    fc.asyncProperty(recipe, async ({ shape, codecs, filled, itemSize, seed }) => {
      const fillValue = new Uint8Array(itemSize).fill(3);
      const pipeline = await createPipeline(codecs, { shape, dataType: RAW(itemSize), fillValue });
      const buffers = new GuardedBuffers();
      const { strides } = pipeline;
      const items = new Uint8Array(product(shape) * itemSize);
      for (let i = 0; i < items.length; i++)
        items[i] = (i * 31 + seed) % 97 < filled * 97 ? 3 : (i * 7) % 256;
      const data = { kind: "fixed", bytes: buffers.copyOf(items), itemSize, shape, strides } as const;
      const encoded = await pipeline.encode(data, buffers);
      expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
      const back = await pipeline.decode(encoded, buffers);
      expect(back).toMatchObject({ kind: "fixed", shape, itemSize });
      if (back.kind === "fixed") {
        expect(inCOrder(back.bytes, shape, back.strides, itemSize)).toEqual(
          inCOrder(items, shape, strides, itemSize),
        );
      }
      buffers.give(back.bytes);
      expect(buffers.live).toBe(0);
    }),
    { numRuns: 150 },
  );
});

function inCOrder(
  bytes: Uint8Array,
  shape: readonly number[],
  strides: readonly number[],
  itemSize: number,
): number[] {
  return [...coordsOf(shape)].flatMap((coords) => {
    const at = coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0) * itemSize;
    return [...bytes.subarray(at, at + itemSize)];
  });
}

test("strings in shards", async () => {
  const texts = ["a", "", "é", "fill", "fill", "fill", "b", "cc", "ddd", "", "fill", "fill"];
  const shape = [2, 6];
  const encoder = new TextEncoder();
  const spec: ChunkSpec = { shape, dataType: { kind: "string" }, fillValue: encoder.encode("fill") };
  const codec = sharding([1, 3], { codecs: [{ name: "vlen-utf8", configuration: {} }] });
  const pipeline = await createPipeline([codec], spec);
  const buffers = new GuardedBuffers();
  const parts = texts.map((text) => encoder.encode(text));
  const offsets = new Uint32Array(13);
  parts.forEach((part, i) => {
    offsets[i + 1] = (offsets[i] ?? 0) + part.length;
  });
  const bytes = buffers.copyOf(Buffer.concat(parts));
  const encoded = await pipeline.encode({ kind: "variable", bytes, offsets, shape }, buffers);
  const index = new DataView(encoded.buffer, encoded.byteOffset + encoded.length - 68);
  expect(index.getBigUint64(16, true)).toBe(2n ** 64n - 1n);
  const back = await pipeline.decode(encoded, buffers);
  if (back.kind !== "variable") throw new Error("not variable");
  const found = texts.map((_, i) =>
    Buffer.from(back.bytes.subarray(back.offsets[i], back.offsets[i + 1])).toString(),
  );
  expect(found).toEqual(texts);
  expect(cStrides(back.shape)).toEqual([6, 1]);
  buffers.give(back.bytes);
  expect(buffers.live).toBe(0);
});
