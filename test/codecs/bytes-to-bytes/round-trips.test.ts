// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChunkForm, codecStep } from "../../../src/codecs/chain/codec-step.ts";
import type { ChunkData } from "../../../src/codecs/chunk-data.ts";
import type { PlacedCodec } from "../../../src/codecs/codec.ts";
import { codecNames } from "../../../src/codecs/registry.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { product } from "../../../src/util/shape.ts";
import { samples, someOf } from "../../support/samples.ts";
import { CODEC_SAMPLES, type CodecSample, itemSizeOf, sampleChain, titleOf } from "../codec-samples.ts";
import { floatsOf, sampleChunk } from "../sample-chunks.ts";
import { chunkBytes, expectSame, GuardedBuffers, placedCodec, randomNumbers } from "../support.ts";

const INNER = ["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"];
/** Sizes of items, from 1 on. */
const SIZES = Array.from({ length: 32 }, (_, i) => 1 + i);
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle", "auto"];

test("every codec of the registry has a sample", () => {
  expect([...new Set(CODEC_SAMPLES.map(({ name }) => name))].sort()).toEqual(codecNames());
});

describe.each(CODEC_SAMPLES.map((sample) => [titleOf(sample), sample] as const))("%s", (_, sample) => {
  test("gives back what it was given, in unaligned buffers that it does not overrun", () =>
    fc.assert(
      fc.asyncProperty(chunkBytes(2000), (bytes) => roundTripSample(sample, bytes)),
      { numRuns: samples(25), examples: [[new Uint8Array(0)], [new Uint8Array(1)], [new Uint8Array(2000)]] },
    ));
});

describe("lengths around what formats count in", () => {
  const random = randomNumbers(77);
  const around = (length: number) => [length - 1, length, length + 1];
  const borders: readonly (readonly [string, JsonObject, readonly number[]])[] = [
    [
      "lz4",
      {},
      [...around(12), ...around(15 + 4), ...around(255 + 19), ...around(65_536), ...around(131_072)],
    ],
    ["zstd", { level: 1 }, [...around(256), ...around(65_792), ...around(131_072), ...around(262_144)]],
    ["zstd", { level: 3, checksum: true }, [...around(16_384), ...around(131_072), ...around(393_216)]],
    ["zstd", { level: 5 }, around(131_072)],
    ["gzip", { level: 6 }, [...around(258), ...around(32_768), ...around(65_535)]],
    ["zlib", { level: 0 }, [...around(65_535), ...around(131_070)]],
    ["bz2", { level: 1 }, [...around(4), ...around(99_981), ...around(100_000), ...around(200_000)]],
    ["base64", {}, around(3)],
    ["packbits", {}, around(8)],
    ["fletcher32", {}, [...around(2), ...around(720), ...around(65_536)]],
    ["crc32c", {}, [...around(8), ...around(65_536)]],
    ["jenkins_lookup3", {}, [...around(12), ...around(24)]],
  ];
  test.each(borders)("%s %j", async (name, configuration, lengths) => {
    for (const length of someOf(lengths, 2, 0)) {
      const flags = name === "packbits";
      const noise = Uint8Array.from({ length }, () => random(flags ? 2 : 256));
      const runs = Uint8Array.from({ length }, (_, i) => (flags ? 1 : (i >> 15) + (i % 1001 === 0 ? 1 : 0)));
      const mixed = Uint8Array.from({ length }, (_, i) => (i % 600 < 300 ? (noise[i] ?? 0) : (runs[i] ?? 0)));
      for (const bytes of [noise, runs, mixed]) await roundTrip(name, configuration, bytes, 1);
    }
  });
});

describe("filters over items of every size", () => {
  const random = randomNumbers(5);
  const noise = (length: number) => Uint8Array.from({ length }, () => random(256));

  test("shuffle gives back items of each size", async () => {
    for (const size of SIZES) {
      for (const items of [0, 1, 2, 7, 8, 15, 16, 17, 129, 1000]) {
        await roundTrip("shuffle", { elementsize: size }, noise(size * items), size);
      }
    }
  });

  test("delta of every type of integer, in every wider or narrower one", async () => {
    const types = ["i", "u"].flatMap((kind) => [1, 2, 4, 8].map((size) => ({ kind, size })));
    for (const { kind, size } of types) {
      for (const order of ["<", ">"]) {
        const dtype = `${order}${kind}${size}`;
        for (const items of [0, 1, 2, 33]) {
          await roundTrip("delta", { dtype }, noise(size * items), size);
          // Wider integers hold every difference.
          await roundTrip("delta", { dtype, astype: ">i8" }, noise(size * items), size);
        }
      }
    }
  });
});

describe.each(INNER)("blosc with %s", (cname) => {
  test.each(SHUFFLES)("and %s: every item size, lengths around blocks", async (shuffle) => {
    const random = randomNumbers(cname.length);
    for (const itemSize of someOf(SIZES, 3, INNER.indexOf(cname) + SHUFFLES.indexOf(shuffle))) {
      for (const items of [0, 1, 7, 8, 129, 128 + random(40)]) {
        const values = Uint8Array.from({ length: items * itemSize }, (_, i) => i / itemSize + random(3));
        await roundTrip("blosc", { cname, clevel: 5, shuffle, blocksize: 0 }, values, itemSize);
      }
      const noise = Uint8Array.from({ length: 40 * itemSize }, () => random(256));
      await roundTrip("blosc", { cname, clevel: 9, shuffle, blocksize: 0 }, noise, itemSize);
    }
  });

  test("and blocks of 512 bytes", () =>
    fc.assert(
      fc.asyncProperty(
        chunkBytes(3000),
        fc.constantFrom(...SHUFFLES),
        fc.constantFrom(1, 2, 3, 4, 8),
        async (bytes, shuffle, itemSize) => {
          const whole = bytes.subarray(0, bytes.length - (bytes.length % itemSize));
          await roundTrip("blosc", { cname, clevel: 3, shuffle, blocksize: 512 }, whole, itemSize);
        },
      ),
      { numRuns: samples(40) },
    ));

  test("and more than one block of the usual size", async () => {
    const floats = Float32Array.from({ length: 100_003 }, (_, i) => Math.round(Math.sin(i / 500) * 1000));
    const bytes = new Uint8Array(floats.buffer);
    for (const shuffle of SHUFFLES) {
      const size = await roundTrip("blosc", { cname, clevel: 1, shuffle, blocksize: 0 }, bytes, 4);
      expect(size).toBeLessThan(bytes.length);
    }
  });
});

/** Encodes and decodes what `sample` makes of `bytes`; what rounds, rounds once. */
async function roundTripSample(sample: CodecSample, bytes: Uint8Array): Promise<void> {
  const buffers = new GuardedBuffers();
  const data = sampleChunk(sample, bytes, buffers);
  const chain = await sampleChain(sample, product(data.shape));
  const given = copyOf(data);
  const found = await thereAndBack(chain, data, buffers);
  if (sample.tolerance === undefined) expectSameData(found, given);
  else {
    const size = itemSizeOf(sample);
    const values = floatsOf(given.bytes, size);
    for (const [i, value] of floatsOf(found.bytes, size).entries()) {
      expect(Math.abs(value - (values[i] ?? 0))).toBeLessThanOrEqual(sample.tolerance);
    }
  }
  const rounded = copyOf(found);
  const again = await thereAndBack(chain, found, buffers);
  expectSameData(again, rounded);
  buffers.give(again.bytes);
  expect(buffers.live).toBe(0);
}

async function thereAndBack(
  chain: readonly PlacedCodec[],
  data: ChunkData,
  buffers: GuardedBuffers,
): Promise<ChunkData> {
  let form: ChunkForm = data;
  for (const placed of chain) form = await codecStep(placed, "encode", buffers)(form);
  for (const placed of chain.toReversed()) form = await codecStep(placed, "decode", buffers)(form);
  return form as ChunkData;
}

function copyOf(data: ChunkData): ChunkData {
  return { ...data, bytes: data.bytes.slice() };
}

function expectSameData(found: ChunkData, expected: ChunkData): void {
  expectSame(found.bytes, expected.bytes);
  expect(found.shape).toEqual(expected.shape);
  if (expected.kind === "variable") expect(found).toMatchObject({ offsets: expected.offsets });
}

async function roundTrip(
  name: string,
  configuration: JsonObject,
  bytes: Uint8Array,
  itemSize: number,
): Promise<number> {
  const placed = await placedCodec(name, configuration, bytes.length, itemSize);
  const { codec } = placed;
  const buffers = new GuardedBuffers();
  const encoded = (await codecStep(placed, "encode", buffers)(buffers.copyOf(bytes))) as Uint8Array;
  const { length } = encoded;
  expect(length).toBeLessThanOrEqual(codec.maxEncodedSize(bytes.length));
  expect([undefined, length]).toContain(codec.fixedEncodedSize?.(bytes.length));
  expect([undefined, bytes.length]).toContain(codec.statedDecodedSize?.(encoded));
  const decoded = (await codecStep(placed, "decode", buffers)(encoded)) as Uint8Array;
  expectSame(decoded, bytes);
  buffers.give(decoded);
  expect(buffers.live).toBe(0);
  return length;
}
