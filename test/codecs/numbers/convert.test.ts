import { describe, expect, test } from "vitest";
import { convertNumbers, roundToEven } from "../../../src/codecs/numbers/convert.ts";

// The results are those of NumPy's `astype`.
describe("casts", () => {
  test.each([
    ["floats are cut towards zero", Float64Array.of(1.9, -1.9, 127), new Int8Array(3), [1, -1, 127]],
    ["integers wrap", Int32Array.of(300, -1, 65_536), new Uint8Array(3), [44, 255, 0]],
    [
      "to smaller floats",
      Float64Array.of(0.1, 1e300),
      new Float32Array(2),
      [Math.fround(0.1), Number.POSITIVE_INFINITY],
    ],
    ["wide to narrow", BigInt64Array.of(-1n, 2n ** 32n + 5n), new Int32Array(2), [-1, 5]],
    ["wide to small unsigned", BigUint64Array.of(2n ** 64n - 1n), new Uint16Array(1), [65_535]],
    ["wide to floats", BigInt64Array.of(-(2n ** 53n)), new Float64Array(1), [-(2 ** 53)]],
    ["narrow to wide", Int8Array.of(-1), new BigInt64Array(1), [-1n]],
    ["unsigned to wide", Uint32Array.of(2 ** 32 - 1), new BigUint64Array(1), [2n ** 32n - 1n]],
    ["negative to wide unsigned", Int8Array.of(-1), new BigUint64Array(1), [2n ** 64n - 1n]],
    ["floats to wide", Float64Array.of(-1.5, 2 ** 60), new BigInt64Array(2), [-1n, 2n ** 60n]],
    ["what is no number to wide", Float64Array.of(Number.NaN), new BigInt64Array(1), [-(2n ** 63n)]],
    ["wide to wide", BigInt64Array.of(-1n), new BigUint64Array(1), [2n ** 64n - 1n]],
  ])("%s", (_, from, to, expected) => {
    convertNumbers(from, to);
    expect<unknown[]>([...to]).toEqual(expected);
  });
});

test.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [-0.5, -0],
  [-1.5, -2],
  [0.49999999999999994, 0],
  [2 ** 51 + 1, 2 ** 51 + 1],
  [1e300, 1e300],
  [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  [Number.NaN, Number.NaN],
])("%d rounded to even is %d", (value, rounded) => expect(roundToEven(value)).toBe(rounded));
