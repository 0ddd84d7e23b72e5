// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ChunkForm, codecStep } from "../../src/codecs/chain/codec-step.ts";
import type { ChunkData } from "../../src/codecs/chunk-data.ts";
import type { PlacedCodec } from "../../src/codecs/codec.ts";
import { codecNames } from "../../src/codecs/registry.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import type { JsonObject } from "../../src/util/json-value.ts";
import { product } from "../../src/util/shape.ts";
import { drawsAll, sampledBelow, samples, someOf } from "../support/samples.ts";
import { CODEC_SAMPLES, type CodecSample, itemSizeOf, sampleChain, titleOf } from "./codec-samples.ts";
import { floatsOf, sampleChunk } from "./sample-chunks.ts";
import { chunkBytes, expectSame, GuardedBuffers, placedCodec, randomNumbers } from "./support.ts";

async function encodeBy(chain: readonly PlacedCodec[], data: ChunkData, buffers: GuardedBuffers) {
  let form: ChunkForm = data;
  for (const placed of chain) form = await codecStep(placed, "encode", buffers)(form);
  return form as Uint8Array;
}

async function decodeBy(chain: readonly PlacedCodec[], frame: Uint8Array, buffers: GuardedBuffers) {
  let form: ChunkForm = frame;
  for (const placed of chain.toReversed()) form = await codecStep(placed, "decode", buffers)(form);
  return form as ChunkData;
}

const copyOf = (data: ChunkData): ChunkData => ({ ...data, bytes: data.bytes.slice() });

function expectSameData(found: ChunkData, expected: ChunkData): void {
  expectSame(found.bytes, expected.bytes);
  expect(found.shape).toEqual(expected.shape);
  if (expected.kind === "variable") expect(found).toMatchObject({ offsets: expected.offsets });
}

/** Encodes and decodes what `sample` makes of `bytes`; what rounds, rounds once. */
async function roundTripSample(sample: CodecSample, bytes: Uint8Array): Promise<void> {
  const buffers = new GuardedBuffers();
  const data = sampleChunk(sample, bytes, buffers);
  const chain = await sampleChain(sample, product(data.shape));
  expect(chain.map(({ codec }) => codec.name)).toContain(sample.name.replace("v3.", ""));
  const given = copyOf(data);
  const found = await decodeBy(chain, await encodeBy(chain, data, buffers), buffers);
  if (sample.tolerance === undefined) expectSameData(found, given);
  else {
    const size = itemSizeOf(sample);
    const values = floatsOf(given.bytes, size);
    for (const [i, value] of floatsOf(found.bytes, size).entries())
      expect(Math.abs(value - (values[i] ?? 0))).toBeLessThanOrEqual(sample.tolerance);
  }
  const rounded = copyOf(found);
  const again = await decodeBy(chain, await encodeBy(chain, found, buffers), buffers);
  expectSameData(again, rounded);
  buffers.give(again.bytes);
  expect(buffers.live).toBe(0);
}

const CODES = ["corrupt-chunk", "codec-error", "resource-limit"];
/** What a change cannot hide from. */
const CHECKED = /^(?:gzip|v1.gzip|zlib|bz2|crc32c?|adler32|fletcher32|jenkins_lookup3) |"checksum":true/;
/** Codecs within shards, which errors name where it is them. */
const IN_SHARDS = ["bytes", "vlen-utf8", "zlib", "crc32c"];

/** What a frame decodes to, in buffers that are all given back; undefined where it is refused. */
async function verdict(chain: readonly PlacedCodec[], frame: Uint8Array): Promise<ChunkData | undefined> {
  const buffers = new GuardedBuffers();
  try {
    const decoded = await decodeBy(chain, buffers.copyOf(frame), buffers);
    const copy = copyOf(decoded);
    buffers.give(decoded.bytes);
    return copy;
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    expect(CODES).toContain(error.code);
    expect([...IN_SHARDS, ...chain.map(({ codec }) => codec.name)]).toContain(error.details.codec);
    return undefined;
  } finally {
    expect(buffers.live).toBe(0);
  }
}

test("every codec of the registry has a sample", () => {
  expect([...new Set(CODEC_SAMPLES.map(({ name }) => name))].sort()).toEqual(codecNames());
});

describe.each(CODEC_SAMPLES.map((sample) => [titleOf(sample), sample] as const))("%s", (title, sample) => {
  test("gives back what it was given, in unaligned buffers that it does not overrun", () =>
    fc.assert(
      fc.asyncProperty(chunkBytes(2000), (bytes) => roundTripSample(sample, bytes)),
      { numRuns: samples(25), examples: [[new Uint8Array(0)], [new Uint8Array(1)], [new Uint8Array(2000)]] },
    ));

  test("refuses cut values, and changed ones or makes a whole chunk of them, and touches nothing else", async () => {
    const random = randomNumbers(title.length);
    const bytes = Uint8Array.from({ length: 900 }, (_, i) =>
      i % 90 < 45 ? random(256) : Math.floor(i / 4) % 5,
    );
    // chains with one codec of each kind, or what blocks and streams of blosc make differ
    const blocks: JsonObject = sample.name === "blosc" ? { blocksize: 256 } : {};
    const given = { ...sample, configuration: { ...sample.configuration, ...blocks } };
    const buffers = new GuardedBuffers();
    const data = sampleChunk(given, bytes, buffers);
    const chain = await sampleChain(given, product(data.shape));
    const frame = await encodeBy(chain, data, buffers);
    const whole = (await verdict(chain, frame)) ?? expect.fail("what was encoded does not decode");
    expect(frame.length).toBeGreaterThan(10);
    for (const length of sampledBelow(frame.length))
      expect(await verdict(chain, frame.subarray(0, length)), `cut at ${length}`).toBeUndefined();
    let differing = 0;
    for (let round = 0; round < (drawsAll ? 300 : 40); round++) {
      const changed = frame.slice();
      // Headers are changed more often than data.
      const at = round % 2 === 0 ? random(Math.min(40, frame.length)) : random(frame.length);
      for (let change = 0; change <= random(3); change++)
        changed[(at + change) % frame.length] = round % 3 === 0 ? random(4) * 85 : random(256);
      const found = await verdict(chain, changed);
      if (found === undefined) continue;
      expect(found.shape).toEqual(whole.shape);
      if (found.kind === "fixed") expect(found.bytes.length).toBe(whole.bytes.length);
      if (Buffer.compare(found.bytes, whole.bytes) !== 0) differing++;
    }
    if (CHECKED.test(title)) expect(differing).toBe(0);
  });
});

async function roundTrip(
  name: string,
  configuration: JsonObject,
  bytes: Uint8Array,
  itemSize = 1,
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

const random = randomNumbers(77);
const noiseOf = (length: number, below = 256) => Uint8Array.from({ length }, () => random(below));

test.each<[string, JsonObject, readonly number[]]>([
  ["lz4", {}, [12, 15 + 4, 255 + 19, 65_536, 131_072]],
  ["zstd", { level: 1 }, [256, 65_792, 131_072, 262_144]],
  ["zstd", { level: 3, checksum: true }, [16_384, 131_072, 393_216]],
  ["zstd", { level: 5 }, [131_072]],
  ["gzip", { level: 6 }, [258, 32_768, 65_535]],
  ["zlib", { level: 0 }, [65_535, 131_070]],
  ["bz2", { level: 1 }, [4, 99_981, 100_000, 200_000]],
  ["base64", {}, [3]],
  ["packbits", {}, [8]],
  ["fletcher32", {}, [2, 720, 65_536]],
  ["crc32c", {}, [8, 65_536]],
  ["jenkins_lookup3", {}, [12, 24]],
])("%s %j gives back lengths around what its format counts in: %j", async (name, configuration, borders) => {
  const lengths = borders.flatMap((length) => [length - 1, length, length + 1]);
  for (const length of someOf(lengths, 2, 0)) {
    const flags = name === "packbits";
    const noise = noiseOf(length, flags ? 2 : 256);
    const runs = Uint8Array.from({ length }, (_, i) => (flags ? 1 : (i >> 15) + (i % 1001 === 0 ? 1 : 0)));
    const mixed = Uint8Array.from({ length }, (_, i) => (i % 600 < 300 ? (noise[i] ?? 0) : (runs[i] ?? 0)));
    for (const bytes of [noise, runs, mixed]) await roundTrip(name, configuration, bytes);
  }
});

/** Sizes of items, from 1 on. */
const SIZES = Array.from({ length: 32 }, (_, i) => 1 + i);

test("shuffle gives back items of each size", async () => {
  for (const size of SIZES) {
    for (const items of [0, 1, 2, 7, 8, 15, 16, 17, 129, 1000])
      await roundTrip("shuffle", { elementsize: size }, noiseOf(size * items), size);
  }
});

test("delta gives back every type of integer, in itself and in one that holds every difference", async () => {
  for (const dtype of ["<", ">"].flatMap((order) => ["i", "u"].map((kind) => order + kind))) {
    for (const size of [1, 2, 4, 8]) {
      for (const bytes of [0, 1, 2, 33].map((items) => noiseOf(size * items))) {
        await roundTrip("delta", { dtype: `${dtype}${size}` }, bytes, size);
        await roundTrip("delta", { dtype: `${dtype}${size}`, astype: ">i8" }, bytes, size);
      }
    }
  }
});

const INNER = ["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"];
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle", "auto"];

describe.each(INNER)("blosc with %s gives back", (cname) => {
  test.each(SHUFFLES)(
    "with %s items of every size, lengths around blocks, and several blocks",
    async (shuffle) => {
      const usual = { cname, shuffle, blocksize: 0 };
      for (const itemSize of someOf(SIZES, 3, INNER.indexOf(cname) + SHUFFLES.indexOf(shuffle))) {
        for (const items of [0, 1, 7, 8, 129, 128 + random(40)]) {
          const values = Uint8Array.from({ length: items * itemSize }, (_, i) => i / itemSize + random(3));
          await roundTrip("blosc", { ...usual, clevel: 5 }, values, itemSize);
        }
        await roundTrip("blosc", { ...usual, clevel: 9 }, noiseOf(40 * itemSize), itemSize);
      }
      const floats = Float32Array.from({ length: 100_003 }, (_, i) => Math.round(Math.sin(i / 500) * 1000));
      const size = await roundTrip("blosc", { ...usual, clevel: 1 }, new Uint8Array(floats.buffer), 4);
      expect(size).toBeLessThan(floats.byteLength);
    },
  );

  test("blocks of 512 bytes", () =>
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
});
