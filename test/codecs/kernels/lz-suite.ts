import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkBytes, expectSame, guarded, randomNumbers } from "../support.ts";

/** Decodes or encodes a range of one buffer into a range of another. */
export type RangeCodec = (
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
) => number;

const BESIDE = new Uint8Array(5).fill(0x5a);

/** What every LZ kernel must keep, at any place in larger buffers. */
export function testLz(
  encode: RangeCodec,
  decode: RangeCodec,
  maxEncodedSize: (size: number) => number,
): void {
  const encoded = (bytes: Uint8Array): Uint8Array => {
    const { bytes: target, check } = guarded(maxEncodedSize(bytes.length) + 10);
    const size = encode(bytes, 0, bytes.length, target, 5, target.length - 5);
    expect(size).toBeGreaterThan(0);
    const result = target.slice(5, 5 + size);
    expectSame(target.subarray(0, 5), BESIDE);
    expectSame(target.subarray(-5), BESIDE);
    check();
    return result;
  };

  const decoded = (bytes: Uint8Array, size: number): Uint8Array | undefined => {
    const { bytes: target, check } = guarded(size);
    const written = decode(bytes, 0, bytes.length, target, 0, size);
    check();
    expect(written).toBeLessThanOrEqual(size);
    return written === -1 ? undefined : target.slice(0, written);
  };

  test("decodes what it encodes", () => {
    fc.assert(
      fc.property(chunkBytes(3000), (bytes) => {
        if (bytes.length > 0) expectSame(decoded(encoded(bytes), bytes.length), bytes);
      }),
      { numRuns: 150 },
    );
  });

  test("decodes what it encodes at lengths around the borders of the format", () => {
    const random = randomNumbers(11);
    for (const length of [
      1, 4, 5, 12, 13, 14, 15, 16, 30, 31, 32, 33, 60, 61, 64, 254, 255, 256, 270, 4096, 65_546, 65_547,
    ]) {
      const constant = new Uint8Array(length).fill(7);
      const pairs = Uint8Array.from({ length }, (_, i) => (i % 3) + random(2));
      for (const bytes of [constant, pairs]) expectSame(decoded(encoded(bytes), length), bytes);
    }
  });

  test("finds matches far back", () => {
    const random = randomNumbers(5);
    const phrase = Uint8Array.from({ length: 300 }, () => random(256));
    for (const gap of [8190, 8191, 8192, 65_000, 65_235, 65_236, 66_000, 74_000]) {
      const bytes = Uint8Array.from({ length: gap + 600 }, () => random(256));
      bytes.set(phrase);
      bytes.set(phrase, gap + 300);
      expectSame(decoded(encoded(bytes), bytes.length), bytes);
    }
  });

  test("long runs need few bytes", () => {
    const bytes = new Uint8Array(100_000).fill(3);
    expect(encoded(bytes).length).toBeLessThan(10_000);
  });

  test("says when the result does not fit", () => {
    const random = randomNumbers(3);
    const bytes = Uint8Array.from({ length: 500 }, (_, i) => (i % 50 < 25 ? random(256) : i % 5));
    const full = encoded(bytes).length;
    for (let room = 0; room < full; room++) {
      const { bytes: target, check } = guarded(room);
      expect(encode(bytes, 0, bytes.length, target, 0, room)).toBe(0);
      check();
    }
  });

  test("a target that is too small is refused and not overrun", () => {
    const bytes = Uint8Array.from({ length: 400 }, (_, i) => (i % 40 < 30 ? 1 : i));
    const source = encoded(bytes);
    for (let size = 0; size < bytes.length; size++) expect(decoded(source, size)).toBeUndefined();
  });

  test("no cut stream gives the whole", () => {
    const random = randomNumbers(9);
    const bytes = Uint8Array.from({ length: 600 }, (_, i) => (i % 60 < 30 ? random(256) : i % 7));
    const source = encoded(bytes);
    for (let length = 0; length < source.length; length++) {
      const result = decoded(source.slice(0, length), bytes.length);
      expect(result === undefined || result.length < bytes.length).toBe(true);
    }
  });

  test("changed streams stay within bounds", () => {
    const random = randomNumbers(17);
    for (let round = 0; round < 3000; round++) {
      const bytes = Uint8Array.from({ length: 50 + random(300) }, (_, i) =>
        i % 40 < 20 ? random(256) : i % 4,
      );
      const source = encoded(bytes);
      for (let change = 0; change <= random(4); change++) source[random(source.length)] = random(256);
      decoded(source, bytes.length);
    }
  });
}
