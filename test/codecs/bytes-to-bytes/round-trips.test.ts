import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codecStep } from "../../../src/codecs/codec-step.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { chunkBytes, expectSame, GuardedBuffers, placedCodec, randomNumbers } from "../support.ts";

const INNER = ["lz4", "lz4hc", "blosclz", "snappy", "zlib", "zstd"];
const SHUFFLES = ["noshuffle", "shuffle", "bitshuffle", "auto"];

/** Codecs that give back all they are given. */
const CODECS: readonly (readonly [string, JsonObject])[] = [
  ["adler32", {}],
  ["crc32", {}],
  ["crc32", { location: "end" }],
  ["crc32c", {}],
  ["fletcher32", {}],
  ["gzip", { level: 1 }],
  ["gzip", { level: 0 }],
  ["lz4", { acceleration: 1 }],
  ["lz4", { acceleration: 20 }],
  ["shuffle", { elementsize: 1 }],
  ["zlib", { level: 9 }],
  ["zstd", { level: 1 }],
  ["zstd", { level: -7 }],
  ["zstd", { level: 3, checksum: true }],
  ["delta", { dtype: "|u1" }],
  ["delta", { dtype: "|i1", astype: "<i4" }],
  ["astype", { decode_dtype: "|u1", encode_dtype: "<f8" }],
  ["blosc", { cname: "lz4", clevel: 0, shuffle: "shuffle" }],
];

describe.each(
  CODECS.map(([name, configuration]) => [name, JSON.stringify(configuration), configuration] as const),
)("%s %s", (name, _, configuration) => {
  test("gives back what it was given, in unaligned buffers that it does not overrun", () =>
    fc.assert(
      fc.asyncProperty(chunkBytes(2000), async (bytes) => {
        await roundTrip(name, configuration, bytes, 1);
      }),
      { numRuns: 30 },
    ));
});

describe.each(INNER)("blosc with %s", (cname) => {
  test.each(SHUFFLES)("and %s: every item size, lengths around blocks", async (shuffle) => {
    const random = randomNumbers(cname.length);
    for (let itemSize = 1; itemSize <= 32; itemSize++) {
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
      { numRuns: 40 },
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
