import { describe, expect, it } from "vitest";
import { fromFloat16Bits, toFloat16Bits } from "../../src/util/float16.ts";

describe("float16", () => {
  it("gives every value back", () => {
    const all = Array.from({ length: 0x10000 }, (_, bits) => bits);
    const numbers = all.filter((bits) => !Number.isNaN(fromFloat16Bits(bits)));
    expect(numbers).toHaveLength(0x10000 - 2 * 1023);
    expect(numbers.filter((bits) => toFloat16Bits(fromFloat16Bits(bits)) !== bits)).toEqual([]);
  });

  it.each([
    [0.1, 0x2e66],
    [1, 0x3c00],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [-1e10, 0xfc00],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [2 ** -25 * 1.0001, 0x0001],
    [3 * 2 ** -25, 0x0002],
    [2 ** -14, 0x0400],
    [1023.5 * 2 ** -24, 0x0400],
    [Number.NaN, 0x7e00],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [-0, 0x8000],
    // Halfway between neighbours: to the even one.
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [1 + 2 ** -11 + 2 ** -30, 0x3c01],
    [2047.5 * 2, 0x6c00],
  ])("%d", (value, bits) => {
    expect(toFloat16Bits(value)).toBe(bits);
  });

  it("reads NaNs and infinities", () => {
    expect(fromFloat16Bits(0x7e01)).toBeNaN();
    expect(fromFloat16Bits(0xfc00)).toBe(Number.NEGATIVE_INFINITY);
  });
});
