import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectSame, guarded, randomNumbers } from "../support.ts";
import { shuffle, unshuffle } from "./plain-shuffle.ts";

const SIZES = Array.from({ length: 32 }, (_, i) => i + 1);

describe.each(SIZES)("items of %i bytes", (itemSize) => {
  test("go plane by plane and come back, at any length and place", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(3), (bytes, offset) => {
        const planes = guarded(bytes.length + 2 * offset);
        shuffle(bytes, 0, planes.bytes, offset, bytes.length, itemSize);
        const shuffled = planes.bytes.subarray(offset, offset + bytes.length);
        expectSame(shuffled, plain(bytes, itemSize));
        const back = guarded(bytes.length);
        unshuffle(planes.bytes, offset, back.bytes, 0, bytes.length, itemSize);
        expectSame(back.bytes, bytes);
        planes.check();
        back.check();
      }),
      { numRuns: 25 },
    );
  });
});

test("items larger than the data leave them as they are", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  const target = new Uint8Array(3);
  shuffle(bytes, 0, target, 0, 3, 2 ** 31 - 1);
  expect(target).toEqual(bytes);
});

test("works on a part of larger buffers", () => {
  const random = randomNumbers(1);
  const source = Uint8Array.from({ length: 100 }, () => random(256));
  const target = new Uint8Array(100);
  shuffle(source, 10, target, 20, 48, 4);
  expectSame(target.subarray(20, 68), plain(source.subarray(10, 58), 4));
  expect(target.subarray(0, 20).some((byte) => byte !== 0)).toBe(false);
  expect(target.subarray(68).some((byte) => byte !== 0)).toBe(false);
});

/** By the definition. */
function plain(bytes: Uint8Array, itemSize: number): Uint8Array {
  const items = Math.floor(bytes.length / itemSize);
  const planes = Array.from({ length: itemSize }, (_, b) =>
    Array.from({ length: items }, (_, i) => bytes[i * itemSize + b] ?? 0),
  );
  return Uint8Array.from([...planes.flat(), ...bytes.subarray(items * itemSize)]);
}
