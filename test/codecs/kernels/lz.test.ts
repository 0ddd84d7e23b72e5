// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blosclzDecode, blosclzEncode } from "../../../src/codecs/kernels/blosclz.ts";
import { copyLiterals, copyMatch } from "../../../src/codecs/kernels/lz-blocks.ts";
import { lz4Decode, lz4Encode, lz4MaxEncodedSize } from "../../../src/codecs/kernels/lz4-block.ts";
import { snappyDecode, snappyEncode } from "../../../src/codecs/kernels/snappy.ts";
import { wordView } from "../../../src/codecs/kernels/swap-bytes.ts";
import { codecsIn } from "../../../src/codecs/kernels/wasm-codecs.ts";
import { WasmMemory } from "../../../src/codecs/kernels/wasm-memory.ts";
import { samples } from "../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";
import { wasmKernels } from "./kernel-pair.ts";
import { plainKernels, type RangeCodec } from "./plain-kernels.ts";

const memory = new WasmMemory();
const blosclzAt =
  (name: "blosclzDecode" | "blosclzEncode"): RangeCodec =>
  (source, start, end, target, targetStart, targetEnd) => {
    const room = targetEnd - targetStart;
    const [from = 0, to = 0] = memory.allocate(end - start, room);
    memory.bytes.set(source.subarray(start, end), from);
    const size = codecsIn(memory)[name](from, from + end - start, to, to + room);
    if (size > 0) target.set(memory.bytes.subarray(to, to + size), targetStart);
    return size;
  };
const maxBlosclzSize = (size: number) => size + Math.ceil(size / 32) + 16;

// What every LZ kernel must keep, at any place in larger buffers.
describe.each<[string, RangeCodec, RangeCodec, (size: number) => number]>([
  [
    "the kernel of LZ4",
    (source, start, end, target, to, until) =>
      wasmKernels.lz4Encode(source.subarray(start, end), target.subarray(to, until), 1),
    (source, start, end, target, to, until) =>
      wasmKernels.lz4Decode(source.subarray(start, end), target.subarray(to, until)),
    lz4MaxEncodedSize,
  ],
  ["LZ4", (...place) => lz4Encode(...place, 1), lz4Decode, lz4MaxEncodedSize],
  ["the kernel of BloscLZ", blosclzAt("blosclzEncode"), blosclzAt("blosclzDecode"), maxBlosclzSize],
  ["BloscLZ of the kernel, read by its twin", blosclzAt("blosclzEncode"), blosclzDecode, maxBlosclzSize],
  ["BloscLZ of the twin, read by the kernel", blosclzEncode, blosclzAt("blosclzDecode"), maxBlosclzSize],
  ["Snappy", snappyEncode, snappyDecode, (size) => 32 + size + Math.ceil(size / 6)],
])("%s", (_, encode, decode, maxEncodedSize) => {
  const random = randomNumbers(11);
  const beside = new Uint8Array(5).fill(0x5a);
  const encoded = (bytes: Uint8Array): Uint8Array => {
    const { bytes: target, check } = guarded(maxEncodedSize(bytes.length) + 10);
    const size = encode(bytes, 0, bytes.length, target, 5, target.length - 5);
    expect(size).toBeGreaterThan(0);
    expectSame(target.subarray(0, 5), beside);
    expectSame(target.subarray(-5), beside);
    check();
    return target.slice(5, 5 + size);
  };
  const decoded = (bytes: Uint8Array, size: number): Uint8Array | undefined => {
    const { bytes: target, check } = guarded(size);
    const written = decode(bytes, 0, bytes.length, target, 0, size);
    check();
    expect(written).toBeLessThanOrEqual(size);
    return written === -1 ? undefined : target.slice(0, written);
  };
  const roundTrip = (bytes: Uint8Array) => expectSame(decoded(encoded(bytes), bytes.length), bytes);
  /** Noise and counts by turns. */
  const mixed = (length: number, period: number) =>
    Uint8Array.from({ length }, (_, i) => (i % period < period / 2 ? random(256) : i % 5));

  test("decodes what it encodes, at lengths around the borders of the format, too", () => {
    const some = chunkBytes(3000).filter(({ length }) => length > 0);
    fc.assert(fc.property(some, roundTrip), { numRuns: 150 });
    for (const length of [
      1, 4, 5, 12, 13, 14, 15, 16, 30, 31, 32, 33, 60, 61, 64, 254, 255, 256, 270, 4096, 65_546, 65_547,
    ]) {
      roundTrip(new Uint8Array(length).fill(7));
      roundTrip(Uint8Array.from({ length }, (_, i) => (i % 3) + random(2)));
    }
    expect(encoded(new Uint8Array(100_000).fill(3)).length).toBeLessThan(10_000);
  });

  test("finds matches far back", () => {
    const phrase = Uint8Array.from({ length: 300 }, () => random(256));
    for (const gap of [8190, 8191, 8192, 65_000, 65_235, 65_236, 66_000, 74_000]) {
      const bytes = Uint8Array.from({ length: gap + 600 }, () => random(256));
      bytes.set(phrase);
      bytes.set(phrase, gap + 300);
      roundTrip(bytes);
    }
  });

  test("refuses targets that are too small, and overruns none", () => {
    const bytes = mixed(500, 50);
    const source = encoded(bytes);
    for (let room = 0; room < source.length; room++) {
      const { bytes: target, check } = guarded(room);
      expect(encode(bytes, 0, bytes.length, target, 0, room)).toBe(0);
      check();
    }
    for (let size = 0; size < bytes.length; size++) expect(decoded(source, size)).toBeUndefined();
  });

  test("gives the whole from no cut stream, and keeps to its bounds with changed ones", () => {
    const bytes = mixed(600, 60);
    const source = encoded(bytes);
    for (let length = 0; length < source.length; length++) {
      const result = decoded(source.slice(0, length), bytes.length);
      expect(result === undefined || result.length < bytes.length).toBe(true);
    }
    for (let round = 0; round < 3000; round++) {
      const given = mixed(50 + random(300), 40);
      const changed = encoded(given);
      for (let change = 0; change <= random(4); change++) changed[random(changed.length)] = random(256);
      decoded(changed, given.length);
    }
  });
});

test.each<[string, RangeCodec, readonly number[], string | undefined]>([
  [
    "literals and a match of LZ4",
    lz4Decode,
    [0x22, 0x61, 0x62, 2, 0, 0x50, 0x78, 0x79, 0x7a, 0x7a, 0x79],
    "ababababxyzzy",
  ],
  ["a distance of 0", lz4Decode, [0x22, 0x61, 0x62, 0, 0, 0x50, 1, 2, 3, 4, 5], undefined],
  ["a distance before the begin", lz4Decode, [0x22, 0x61, 0x62, 3, 0, 0x50, 1, 2, 3, 4, 5], undefined],
  ["no LZ4 at all, which is one token", lz4Decode, [0], ""],
  [
    "literals and a match of BloscLZ",
    blosclzDecode,
    [0x21, 0x61, 0x62, 5 << 5, 1, 1, 0x78, 0x79],
    "ababababaxy",
  ],
  [
    "literals and copies of all three kinds of Snappy",
    snappyDecode,
    [18, 12, 0x61, 0x62, 0x63, 0x64, (1 << 2) | 1, 4, (3 << 2) | 2, 2, 0, (4 << 2) | 3, 1, 0, 0, 0],
    "abcdabcdadadaaaaaa",
  ],
  ["a size that the elements do not give", snappyDecode, [5, 12, 1, 2, 3, 4], undefined],
  ["a size beyond 2^32", snappyDecode, [0xff, 0xff, 0xff, 0xff, 0xff, 1], undefined],
])("a stream by the book: %s", (_, decode, stream, text) => {
  const size = text?.length ?? 20;
  const target = new Uint8Array(size);
  const written = decode(Uint8Array.from(stream), 0, stream.length, target, 0, size);
  expect(written).toBe(text === undefined ? -1 : size);
  if (text !== undefined) expect(Buffer.from(target).toString()).toBe(text);
});

test("matches repeat at every distance and length, and literals are copied, up to the end of either buffer", () => {
  for (let distance = 1; distance <= 20; distance++) {
    for (const length of [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 127, 128, 129, 300]) {
      for (const room of [0, 1, 3, 8]) {
        const { bytes, check } = guarded(distance + length + room);
        for (let i = 0; i < distance; i++) bytes[i] = i + 1;
        copyMatch(bytes, wordView(bytes), distance, distance, length, bytes.length);
        const expected = Uint8Array.from({ length: distance + length }, (_, i) => (i % distance) + 1);
        expectSame(bytes.subarray(0, distance + length), expected);
        check();
      }
    }
  }
  for (const length of [0, 1, 2, 3, 4, 5, 9, 127, 128, 200]) {
    const source = Uint8Array.from({ length: length + 2 }, (_, i) => i);
    const { bytes, check } = guarded(length + 1);
    copyLiterals(source, wordView(source), 2, bytes, wordView(bytes), 1, length, bytes.length);
    expectSame(bytes.subarray(1), source.subarray(2));
    check();
  }
});

describe("LZ4 by the kernel and by its twin", () => {
  const encodedBy = (encoder: typeof plainKernels, bytes: Uint8Array, acceleration = 1) => {
    const encoded = new Uint8Array(lz4MaxEncodedSize(bytes.length));
    return encoded.slice(0, encoder.lz4Encode(bytes, encoded, acceleration));
  };

  test("either decodes what the other encodes, at every acceleration", () => {
    fc.assert(
      fc.property(chunkBytes(5000), fc.integer({ min: 1, max: 70 }), (bytes, acceleration) => {
        for (const [encoder, decoder] of [
          [wasmKernels, plainKernels],
          [plainKernels, wasmKernels],
        ] as const) {
          const { bytes: decoded, check } = guarded(bytes.length);
          expect(decoder.lz4Decode(encodedBy(encoder, bytes, acceleration), decoded)).toBe(bytes.length);
          expectSame(decoded, bytes);
          check();
        }
      }),
      { numRuns: samples(200) },
    );
  });

  test("a part is what the whole has there, however the block is cut behind it", () => {
    fc.assert(
      fc.property(chunkBytes(3000), fc.nat(), fc.nat(), fc.nat(), (bytes, from, length, cut) => {
        if (bytes.length === 0) return;
        const block = encodedBy(plainKernels, bytes);
        const offset = from % bytes.length;
        const end = offset + 1 + (length % (bytes.length - offset));
        for (const kernels of [wasmKernels, plainKernels]) {
          const part = guarded(end - offset);
          expect(kernels.lz4DecodePart(block, part.bytes, offset)).toBe(true);
          expectSame(part.bytes, bytes.subarray(offset, end));
          part.bytes.fill(0);
          const isThere = kernels.lz4DecodePart(block.slice(0, cut % block.length), part.bytes, offset);
          if (end === bytes.length) expect(isThere).toBe(false);
          if (isThere) expectSame(part.bytes, bytes.subarray(offset, end));
          part.check();
        }
      }),
      { numRuns: samples(300) },
    );
  });

  test("changed and cut blocks, and parts of them, get the same verdict and the same bytes", () => {
    const random = randomNumbers(23);
    const verdicts = [0, 0];
    for (let round = 0; round < samples(20_000); round++) {
      const bytes = Uint8Array.from({ length: 60 + random(400) }, (_, i) =>
        i % 50 < 25 ? random(256) : i % 3,
      );
      const whole = encodedBy(plainKernels, bytes);
      for (let change = random(4); change > 0; change--) whole[random(whole.length)] = random(256);
      const block = random(4) === 0 ? whole.slice(0, random(whole.length + 1)) : whole;
      const offset = random(bytes.length);
      const length = 1 + random(bytes.length - offset);
      const [ours, theirs] = [wasmKernels, plainKernels].map((kernels) => {
        const [all, part] = [guarded(bytes.length), guarded(length)];
        const written = kernels.lz4Decode(block, all.bytes);
        const isThere = kernels.lz4DecodePart(block, part.bytes, offset);
        const found = Buffer.concat([
          all.bytes.subarray(0, Math.max(0, written)),
          isThere ? part.bytes : new Uint8Array(0),
        ]);
        all.check();
        part.check();
        return { written, isThere, found };
      });
      expect(ours?.written).toBe(theirs?.written);
      expect(ours?.isThere).toBe(theirs?.isThere);
      expectSame(ours?.found, theirs?.found ?? bytes);
      verdicts[ours?.isThere ? 1 : 0] = (verdicts[ours?.isThere ? 1 : 0] ?? 0) + 1;
    }
    expect(Math.min(...verdicts)).toBeGreaterThan(samples(1000));
  });

  test("a match that ends beyond all addresses is too long, and nothing is written at the first ones", () => {
    const memory = new WasmMemory();
    const { lz4Decode: decode } = codecsIn(memory);
    const most = Math.ceil(2 ** 32 / 255);
    const [from = 0, to = 0] = memory.allocate(most + 100, 1000);
    // One literal, a match at distance 1 that ends at address 2^32 + 64, and 14 literals.
    const length = 2 ** 32 + 64 - (to + 1);
    const lengthBytes = Math.floor((length - 19) / 255);
    const block = new Uint8Array(lengthBytes + 80).fill(255, 4, 4 + lengthBytes);
    block.set([0x1f, 7, 1, 0]);
    block.set([(length - 19) % 255, 0xe0, ...new Uint8Array(14).fill(0xa5)], 4 + lengthBytes);
    memory.bytes.set(block, from);
    const before = memory.bytes.slice(0, from);
    expect(decode(from, from + block.length, to, to + 1000, 0)).toBe(-1);
    expect(Buffer.compare(memory.bytes.subarray(0, from), before)).toBe(0);
    expect(lz4Decode(block, 0, block.length, new Uint8Array(1000), 0, 1000)).toBe(-1);
  });
});
