import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import type { VariableData } from "../../../src/codecs/chunk-data.ts";
import type { ChunkSpec } from "../../../src/codecs/codec.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json-value.ts";
import { product } from "../../../src/util/shape.ts";
import { crc32c } from "../kernels/plain-kernels.ts";
import { errorOf, expectSame, GuardedBuffers, itemsOf, RAW, text, utf8, variableData } from "../support.ts";

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

/** 0 to 15, but with nothing but the fill value in the second inner chunk. */
async function encodedSquare(others: JsonObject): Promise<Uint8Array> {
  const buffers = new GuardedBuffers();
  const items = Uint8Array.from({ length: 16 }, (_, i) => ([2, 3, 6, 7].includes(i) ? 7 : i));
  const data = { kind: "fixed", bytes: buffers.copyOf(items), itemSize: 1, shape: [4, 4] } as const;
  const bytes = await (await square(others)).encode({ ...data, strides: [4, 1] }, buffers);
  expect(buffers.live).toBe(1);
  return bytes.slice();
}

describe("an index", () => {
  test("says where inner chunks lie: in any order, with gaps, twice the same bytes, within itself", async () => {
    const shard = shardOf([9, 9, 1, 2, 3, 4], [[2n, 4n], MISSING, [2n, 4n], [0n, 4n]]);
    expect(await decoded(await square(), shard)).toEqual([1, 2, 7, 7, 3, 4, 7, 7, 1, 2, 9, 9, 3, 4, 1, 2]);
    const over = shardOf(
      [1, 2, 3, 4],
      [
        [0n, 4n],
        [0n, 4n],
        [0n, 4n],
        [2n, 4n],
      ],
    );
    expect((await decoded(await square(), over)).slice(-2)).toEqual([0, 0]);
  });

  test("stands at the start where that is stated, and offsets count from there", async () => {
    const bytes = await encodedSquare({ index_location: "start" });
    const words = new BigUint64Array(bytes.slice(0, 64).buffer);
    expect([...words]).toEqual([64n, 4n, ...MISSING, 68n, 4n, 72n, 4n]);
    expect([...bytes.subarray(64)]).toEqual([0, 1, 4, 5, 8, 9, 12, 13, 10, 11, 14, 15]);
  });

  test("stands at the end, little-endian or as stated, with its CRC-32C", async () => {
    const bytes = await encodedSquare({ index_codecs: [LITTLE, CRC] });
    expect(bytes.length).toBe(12 + 4 * 16 + 4);
    const index = bytes.slice(12, 76);
    expect([...new BigUint64Array(index.buffer)]).toEqual([0n, 4n, ...MISSING, 4n, 4n, 8n, 4n]);
    expect(new DataView(bytes.buffer, bytes.byteOffset + 76).getUint32(0, true)).toBe(crc32c(index));
    const big = await encodedSquare({ index_codecs: [{ name: "bytes", configuration: { endian: "big" } }] });
    expect(new DataView(big.buffer, big.byteOffset).getBigUint64(12 + 8)).toBe(4n);
  });
});

describe("hostile shards are refused, and name the inner chunk", () => {
  const good = [0n, 4n] as const;
  test.each([
    ["an offset outside", [67n, 4n]],
    ["a length outside", [0n, 100n]],
    ["a length of 2^63", [0n, 2n ** 63n]],
    ["an end beyond 2^64", [2n ** 64n - 2n, 4n]],
    ["half an empty entry", [2n ** 64n - 1n, 4n]],
    ["the other half", [4n, 2n ** 64n - 1n]],
    ["a length that is none of an inner chunk", [0n, 3n]],
    ["a length of 0", [0n, 0n]],
  ] as const)("%s", async (_, entry) => {
    const buffers = new GuardedBuffers();
    const shard = buffers.copyOf(shardOf([1, 2, 3, 4], [good, good, entry, good]));
    const error = await errorOf(async () => (await square()).decode(shard, buffers), "corrupt-chunk");
    expect(error.message).toContain("inner chunk 1.0: ");
    expect(buffers.live).toBe(0);
  });

  test("shards without room for an index, and with a wrong checksum of it", async () => {
    for (const found of [0, 1, 63]) {
      const error = await errorOf(
        async () => decoded(await square(), new Uint8Array(found)),
        "corrupt-chunk",
      );
      expect(error.details).toMatchObject({ expected: 64, found });
    }
    const checked = { index_codecs: [LITTLE, CRC] };
    const bytes = (await encodedSquare(checked)).with(20, 1);
    const error = await errorOf(async () => decoded(await square(checked), bytes), "corrupt-chunk");
    expect(error.message).toContain("the shard's index: ");
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

  test("nested deeper than anyone would, or of more inner chunks than an index may have, is refused", async () => {
    let codec: { name: string; configuration: JsonObject } = BYTES;
    for (let depth = 0; depth < 12; depth++) codec = sharding([4, 4], { codecs: [{ ...codec }] });
    await errorOf(() => createPipeline([codec], SQUARE), "resource-limit");
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
      const items = Uint8Array.from({ length: product(shape) * itemSize }, (_, i) =>
        (i * 31 + seed) % 97 < filled * 97 ? 3 : (i * 7) % 256,
      );
      const data = { kind: "fixed", bytes: buffers.copyOf(items), itemSize, shape, strides } as const;
      const encoded = await pipeline.encode(data, buffers);
      expect(encoded.length).toBeLessThanOrEqual(pipeline.maxEncodedSize);
      const back = await pipeline.decode(encoded, buffers);
      expect(back).toMatchObject({ kind: "fixed", shape, itemSize, strides });
      expectSame(back.bytes, items);
      buffers.give(back.bytes);
      expect(buffers.live).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("strings in shards", async () => {
  const texts = ["a", "", "é", "fill", "fill", "fill", "b", "cc", "ddd", "", "fill", "fill"];
  const shape = [2, 6];
  const spec: ChunkSpec = { shape, dataType: { kind: "string" }, fillValue: utf8("fill") };
  const codec = sharding([1, 3], { codecs: [{ name: "vlen-utf8", configuration: {} }] });
  const pipeline = await createPipeline([codec], spec);
  const buffers = new GuardedBuffers();
  const encoded = await pipeline.encode(variableData(texts.map(utf8), shape, buffers), buffers);
  const index = new DataView(encoded.buffer, encoded.byteOffset + encoded.length - 68);
  expect(index.getBigUint64(16, true)).toBe(2n ** 64n - 1n);
  const back = (await pipeline.decode(encoded, buffers)) as VariableData;
  expect(itemsOf(back).map(text)).toEqual(texts);
  expect(back.shape).toEqual(shape);
  buffers.give(back.bytes);
  expect(buffers.live).toBe(0);
});
