import { expect, test } from "vitest";
import { joinBits, splitBits } from "../../../src/codecs/kernels/bit-shuffle.ts";
import { expectSame, guarded, randomNumbers } from "../support.ts";

test.each([1, 2, 3, 4, 8, 16])("%i planes split into bits and come back", (planes) => {
  const random = randomNumbers(planes);
  for (const items of [8, 16, 24, 64, 136]) {
    const bytes = Uint8Array.from({ length: planes * items }, () => random(256));
    const bits = guarded(bytes.length);
    splitBits(bytes, 0, bits.bytes, 0, planes, items);
    expectSame(bits.bytes, plain(bytes, planes, items));
    const back = guarded(bytes.length);
    joinBits(bits.bytes, 0, back.bytes, 0, planes, items);
    expectSame(back.bytes, bytes);
    bits.check();
    back.check();
  }
});

test("keeps to the stated places", () => {
  const bytes = Uint8Array.from({ length: 20 }, (_, i) => i);
  const bits = new Uint8Array(20);
  splitBits(bytes, 3, bits, 5, 1, 8);
  expect([...bits.subarray(0, 5), ...bits.subarray(13)].every((byte) => byte === 0)).toBe(true);
  expectSame(bits.subarray(5, 13), plain(bytes.subarray(3, 11), 1, 8));
});

/** By the definition: for each plane of bytes 8 of bits, the least bit first, packed the first item lowest. */
function plain(bytes: Uint8Array, planes: number, items: number): Uint8Array {
  const packed: number[] = [];
  for (let p = 0; p < planes; p++) {
    for (let bit = 0; bit < 8; bit++) {
      for (let i = 0; i < items; i += 8) {
        let byte = 0;
        for (let k = 0; k < 8; k++) byte |= (((bytes[p * items + i + k] ?? 0) >> bit) & 1) << k;
        packed.push(byte);
      }
    }
  }
  return Uint8Array.from(packed);
}
