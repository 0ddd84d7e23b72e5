// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blosclzDecode, blosclzEncode } from "../../../src/codecs/kernels/blosclz.ts";
import type { BlockLayout } from "../../../src/codecs/kernels/kernel-types.ts";
import { lz4Decode, lz4MaxEncodedSize } from "../../../src/codecs/kernels/lz4-block.ts";
import { codecsIn } from "../../../src/codecs/kernels/wasm-codecs.ts";
import { WasmMemory } from "../../../src/codecs/kernels/wasm-memory.ts";
import { samples } from "../../support/samples.ts";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";
import { bothKernels, wasmKernels } from "./kernel-pair.ts";
import { type RangeCodec, testLz } from "./lz-suite.ts";
import { plainKernels } from "./plain-kernels.ts";

describe.each(bothKernels)("%s", (_, kernels) => {
  testLz(
    (source, start, end, target, targetStart, targetEnd) =>
      kernels.lz4Encode(source.subarray(start, end), target.subarray(targetStart, targetEnd), 1),
    (source, start, end, target, targetStart, targetEnd) =>
      kernels.lz4Decode(source.subarray(start, end), target.subarray(targetStart, targetEnd)),
    lz4MaxEncodedSize,
  );
});

test("LZ4: either decodes what the other encodes, at every acceleration", () => {
  fc.assert(
    fc.property(chunkBytes(5000), fc.integer({ min: 1, max: 70 }), (bytes, acceleration) => {
      for (const [encoder, decoder] of [
        [wasmKernels, plainKernels],
        [plainKernels, wasmKernels],
      ] as const) {
        const encoded = new Uint8Array(lz4MaxEncodedSize(bytes.length));
        const size = encoder.lz4Encode(bytes, encoded, acceleration);
        const { bytes: decoded, check } = guarded(bytes.length);
        expect(decoder.lz4Decode(encoded.subarray(0, size), decoded)).toBe(bytes.length);
        expectSame(decoded, bytes);
        check();
      }
    }),
    { numRuns: samples(200) },
  );
});

/** An LZ4 block of some bytes, of which up to three are changed; one of four is cut, too. */
function changedBlock(random: (below: number) => number): { bytes: Uint8Array; block: Uint8Array } {
  const bytes = Uint8Array.from({ length: 60 + random(400) }, (_, i) => (i % 50 < 25 ? random(256) : i % 3));
  const encoded = new Uint8Array(lz4MaxEncodedSize(bytes.length));
  const size = plainKernels.lz4Encode(bytes, encoded, 1);
  for (let change = random(4); change > 0; change--) encoded[random(size)] = random(256);
  return { bytes, block: encoded.slice(0, random(4) === 0 ? random(size + 1) : size) };
}

test("LZ4: changed and cut blocks get the same verdict and the same bytes", () => {
  const random = randomNumbers(23);
  for (let round = 0; round < samples(20_000); round++) {
    const { bytes, block } = changedBlock(random);
    const ours = guarded(bytes.length);
    const theirs = guarded(bytes.length);
    const written = wasmKernels.lz4Decode(block, ours.bytes);
    expect(written).toBe(plainKernels.lz4Decode(block, theirs.bytes));
    if (written > 0) expectSame(ours.bytes.subarray(0, written), theirs.bytes.subarray(0, written));
    ours.check();
    theirs.check();
  }
});

test("LZ4: a part is what the whole has there, however the block is cut behind it", () => {
  fc.assert(
    fc.property(chunkBytes(3000), fc.nat(), fc.nat(), fc.nat(), (bytes, from, length, cut) => {
      if (bytes.length === 0) return;
      const encoded = new Uint8Array(lz4MaxEncodedSize(bytes.length));
      const size = plainKernels.lz4Encode(bytes, encoded, 1);
      const offset = from % bytes.length;
      const end = offset + 1 + (length % (bytes.length - offset));
      for (const kernels of [wasmKernels, plainKernels]) {
        const part = guarded(end - offset);
        expect(kernels.lz4DecodePart(encoded.slice(0, size), part.bytes, offset)).toBe(true);
        expectSame(part.bytes, bytes.subarray(offset, end));
        part.bytes.fill(0);
        const isThere = kernels.lz4DecodePart(encoded.slice(0, cut % size), part.bytes, offset);
        if (end === bytes.length) expect(isThere).toBe(false);
        if (isThere) expectSame(part.bytes, bytes.subarray(offset, end));
        part.check();
      }
    }),
    { numRuns: samples(300) },
  );
});

test("LZ4: parts of changed and cut blocks get the same verdict and the same bytes", () => {
  const random = randomNumbers(29);
  const verdicts = { true: 0, false: 0 };
  for (let round = 0; round < samples(20_000); round++) {
    const { bytes, block } = changedBlock(random);
    const offset = random(bytes.length);
    const length = 1 + random(bytes.length - offset);
    const ours = guarded(length);
    const theirs = guarded(length);
    const isThere = wasmKernels.lz4DecodePart(block, ours.bytes, offset);
    expect(isThere).toBe(plainKernels.lz4DecodePart(block, theirs.bytes, offset));
    if (isThere) expectSame(ours.bytes, theirs.bytes);
    verdicts[`${isThere}`]++;
    ours.check();
    theirs.check();
  }
  expect(Math.min(verdicts.true, verdicts.false)).toBeGreaterThan(samples(1000));
});

test("LZ4: a match that ends beyond all addresses is too long, and nothing is written at the first ones", () => {
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
  const bounds = [from, from + block.length, to, to + 1000] as const;
  expect(decode(...bounds, 0)).toBe(-1);
  expect(Buffer.compare(memory.bytes.subarray(0, from), before)).toBe(0);
  expect(lz4Decode(block, 0, block.length, new Uint8Array(1000), 0, 1000)).toBe(-1);
});

describe("BloscLZ", () => {
  const memory = new WasmMemory();
  const at =
    (name: "blosclzDecode" | "blosclzEncode"): RangeCodec =>
    (source, start, end, target, targetStart, targetEnd) => {
      const room = targetEnd - targetStart;
      const [from = 0, to = 0] = memory.allocate(end - start, room);
      memory.bytes.set(source.subarray(start, end), from);
      const size = codecsIn(memory)[name](from, from + end - start, to, to + room);
      if (size > 0) target.set(memory.bytes.subarray(to, to + size), targetStart);
      return size;
    };
  const maxEncodedSize = (size: number) => size + Math.ceil(size / 32) + 16;
  testLz(at("blosclzEncode"), at("blosclzDecode"), maxEncodedSize);
  describe("read by the twin", () => testLz(at("blosclzEncode"), blosclzDecode, maxEncodedSize));
  describe("written by the twin", () => testLz(blosclzEncode, at("blosclzDecode"), maxEncodedSize));
});

test.each(Array.from({ length: 70 }, (_, i) => i + 1))(
  "shuffles of items of %i bytes are equal",
  (itemSize) => {
    const random = randomNumbers(itemSize);
    for (const items of [0, 1, 2, 15, 16, 17, 33, 100, 200 + random(100), Math.ceil(70_000 / itemSize)]) {
      const bytes = noise(items * itemSize + random(itemSize), random);
      const planes = [guarded(bytes.length), guarded(bytes.length)] as const;
      const back = guarded(bytes.length);
      wasmKernels.shuffle(bytes, planes[0].bytes, itemSize);
      plainKernels.shuffle(bytes, planes[1].bytes, itemSize);
      expectSame(planes[0].bytes, planes[1].bytes);
      wasmKernels.unshuffle(planes[0].bytes, back.bytes, itemSize);
      expectSame(back.bytes, bytes);
      for (const { check } of [...planes, back]) check();
    }
  },
);

test.each([2, 4, 8])("units of %i bytes are swapped alike, at any length", (unit) => {
  const random = randomNumbers(unit);
  for (const units of [0, 1, 2, 3, 5, 7, 8, 9, 100, 65_536 / unit, 65_536 / unit + 1, 50_000]) {
    const { bytes, check } = guarded(units * unit);
    bytes.set(noise(bytes.length, random));
    const expected = bytes.slice();
    plainKernels.swapBytes(expected, unit);
    wasmKernels.swapBytes(bytes, unit);
    expectSame(bytes, expected);
    check();
  }
});

test("CRC-32C is equal at any length", () => {
  const random = randomNumbers(5);
  for (const length of [...Array.from({ length: 70 }, (_, i) => i), 65_535, 65_536, 65_537, 200_003]) {
    const bytes = noise(length, random);
    expect(wasmKernels.crc32c(bytes)).toBe(plainKernels.crc32c(bytes));
  }
});

describe("blocks of blosc", () => {
  const { blocks } = wasmKernels;
  const layouts = fc.record({
    inner: fc.constantFrom("blosclz", "lz4", "zstd"),
    mode: fc.constantFrom("noshuffle" as const, "shuffle" as const, "bitshuffle" as const),
    itemSize: fc.oneof(fc.integer({ min: 1, max: 32 }), fc.constantFrom(2, 4, 8, 16, 64, 255)),
    isSplit: fc.boolean(),
    units: fc.integer({ min: 1, max: 400 }),
  });

  test("are decoded to what was encoded, within bounds", () => {
    fc.assert(
      fc.property(layouts, fc.nat(1e6), ({ inner, mode, itemSize, isSplit, units }, seed) => {
        const layout: BlockLayout = { inner, mode, itemSize, streams: isSplit ? itemSize : 1 };
        const random = randomNumbers(seed);
        const bytes = Uint8Array.from({ length: units * 8 * itemSize }, (_, i) => i / itemSize + random(3));
        const encoded = guarded(bytes.length + 4 * layout.streams);
        const size = blocks.encode(bytes, encoded.bytes, layout, 1) ?? 0;
        expect(size).toBeGreaterThan(0);
        const decoded = guarded(bytes.length);
        const block = encoded.bytes.subarray(0, size);
        expect(blocks.decode(block, decoded.bytes, layout, bytes.length, 0)).toBe(true);
        expectSame(decoded.bytes, bytes);
        const start = random(bytes.length);
        const part = guarded(1 + random(bytes.length - start));
        expect(blocks.decode(block, part.bytes, layout, bytes.length, start)).toBe(true);
        expectSame(part.bytes, bytes.subarray(start, start + part.bytes.length));
        part.check();
        encoded.check();
        decoded.check();
      }),
      { numRuns: samples(150) },
    );
  });

  test.each(["blosclz", "lz4", "zstd"])("of %s that do not fit are given up", (inner) => {
    const bytes = noise(4000, randomNumbers(1));
    const layout: BlockLayout = { inner, mode: "shuffle", itemSize: 4, streams: 4 };
    for (const room of [0, 3, 4, 5, 1000, 1004, 4015]) {
      const { bytes: target, check } = guarded(room);
      expect(blocks.encode(bytes, target, layout, 3)).toBe(0);
      check();
    }
    expect(blocks.encode(bytes, new Uint8Array(4016), layout, 3)).toBe(4016);
  });
});

function noise(length: number, random: (limit: number) => number): Uint8Array {
  return Uint8Array.from({ length }, () => random(256));
}
