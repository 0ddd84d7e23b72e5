import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { floatRounder, ROUNDINGS } from "../../../src/codecs/numbers/round-float.ts";
import { fromFloat16Bits, toFloat16Bits } from "../../../src/util/float16.ts";

describe("to the nearest, ties to even", () => {
  const round = floatRounder(4, "nearest-even");

  test("is what the machine does with floats of 8 bytes", () =>
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(round(value)).toBe(Math.fround(value));
        expect(floatRounder(2, "nearest-even")(value)).toBe(fromFloat16Bits(toFloat16Bits(value)));
        expect(floatRounder(8, "towards-zero")(value)).toBe(value);
      }),
    ));

  test("does not round bigints twice", () => {
    // Halfway between two floats of 4 bytes, and a little more: by way of a double it would be a tie.
    expect(round(2n ** 60n + 2n ** 36n + 1n)).toBe(2 ** 60 + 2 ** 37);
    expect(round(2n ** 60n + 2n ** 36n)).toBe(2 ** 60);
    expect(round(-(2n ** 60n) - 3n * 2n ** 36n)).toBe(-(2 ** 60) - 2 ** 38);
    expect(floatRounder(8, "nearest-even")(2n ** 53n + 1n)).toBe(2 ** 53);
    expect(floatRounder(8, "nearest-away")(2n ** 53n + 1n)).toBe(2 ** 53 + 2);
  });
});

describe("in every direction", () => {
  const near = (value: number | bigint, size: 2 | 4 | 8) =>
    Object.fromEntries(ROUNDINGS.map((rounding) => [rounding, floatRounder(size, rounding)(value)]));

  test("a tie", () => {
    expect(near(2049, 2)).toEqual({
      "nearest-even": 2048,
      "nearest-away": 2050,
      "towards-zero": 2048,
      "towards-positive": 2050,
      "towards-negative": 2048,
    });
    expect(near(-2049, 2)).toEqual({
      "nearest-even": -2048,
      "nearest-away": -2050,
      "towards-zero": -2048,
      "towards-positive": -2048,
      "towards-negative": -2050,
    });
  });

  test("the neighbours enclose the value, and are neighbours", () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e38, max: 1e38 }), (value) => {
        const low = floatRounder(4, "towards-negative")(value);
        const high = floatRounder(4, "towards-positive")(value);
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        const between = Math.fround((low + high) / 2);
        expect([low, high]).toContain(between);
      }),
    ));

  test("beyond the largest", () => {
    expect(near(65519, 2)).toMatchObject({ "nearest-even": 65504, "towards-positive": Infinity });
    expect(near(65520, 2)).toMatchObject({ "nearest-even": Infinity, "towards-zero": 65504 });
    expect(near(65536, 2)).toMatchObject({ "towards-zero": Infinity });
    expect(near(1e300, 4)).toMatchObject({ "towards-zero": Infinity });
  });

  test("what needs no rounding stays, the sign of zero too", () => {
    for (const size of [2, 4, 8] as const) {
      for (const value of [0, -0, 1, -0.5, Infinity, -Infinity, NaN]) {
        for (const found of Object.values(near(value, size))) expect(found).toBe(value);
      }
    }
  });
});
