import { describe, expect, test } from "vitest";
import { castTo, integerRange } from "../../../src/codecs/numbers/cast.ts";
import type { NumberType } from "../../../src/codecs/numbers/number-type.ts";
import { ROUNDINGS } from "../../../src/codecs/numbers/round-float.ts";
import { errorOf } from "../support.ts";

const type = (kind: NumberType["kind"], size: NumberType["size"]): NumberType => ({
  kind,
  size,
  endian: "little",
});
const INT1 = type("int", 1);
const UINT8 = type("uint", 8);

test("floats are rounded to integers as asked", () => {
  const values = [2.5, -2.5, 3.5, 0.49999999999999994, -0.2];
  const expected = {
    "nearest-even": [2, -2, 4, 0, 0],
    "towards-zero": [2, -2, 3, 0, 0],
    "towards-positive": [3, -2, 4, 1, 0],
    "towards-negative": [2, -3, 3, 0, -1],
    "nearest-away": [3, -3, 4, 0, 0],
  };
  for (const rounding of ROUNDINGS) {
    const cast = castTo(INT1, rounding, "error");
    expect(values.map((value) => Number(cast(value)) + 0)).toEqual(expected[rounding]);
  }
});

describe("what is out of range", () => {
  test("is an error", async () => {
    const cast = castTo(INT1, "nearest-even", "error");
    for (const value of [128, -128.6, 2n ** 40n, Infinity, NaN]) {
      expect((await errorOf(() => cast(value), "codec-error")).details.hint).toContain("out_of_range");
    }
    expect(cast(127.4)).toBe(127);
  });

  test("is clamped, once rounded", async () => {
    const cast = castTo(INT1, "nearest-even", "clamp");
    expect([128, -1e30, 2n ** 63n, -(2n ** 63n)].map(cast)).toEqual([127, -128, 127, -128]);
    await errorOf(() => cast(Infinity), "codec-error");
  });

  test("wraps as two's complement", async () => {
    const cast = castTo(type("int", 2), "towards-zero", "wrap");
    expect([32768, 32769, -32769, 2n ** 16n + 3n, 65536.9].map(cast)).toEqual([-32768, -32767, 32767, 3, 0]);
    expect(castTo(UINT8, "nearest-even", "wrap")(-1)).toBe(2n ** 64n - 1n);
    await errorOf(() => cast(NaN), "codec-error");
  });

  test("of floats becomes infinite only where clamped", async () => {
    expect(castTo(type("float", 4), "nearest-even", "clamp")(-1e300)).toBe(-Infinity);
    expect(castTo(type("float", 4), "nearest-even", "error")(-Infinity)).toBe(-Infinity);
    await errorOf(() => castTo(type("float", 2), "nearest-even", "error")(70_000), "codec-error");
  });
});

test("integers of 64 bits keep all digits", () => {
  const cast = castTo(UINT8, "nearest-even", "error");
  expect(cast(2n ** 64n - 1n)).toBe(2n ** 64n - 1n);
  expect(cast(2 ** 53)).toBe(2n ** 53n);
  expect(castTo(type("float", 8), "nearest-even", "error")(2n ** 53n)).toBe(2 ** 53);
  expect(integerRange(UINT8)).toEqual({ least: 0n, most: 2n ** 64n - 1n });
});
