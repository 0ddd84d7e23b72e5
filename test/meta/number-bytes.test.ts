import { expect, it } from "vitest";
import {
  bytesEqual,
  floatBytes,
  integerBytes,
  isCanonical,
  readFloat,
  readInteger,
} from "../../src/meta/number-bytes.ts";
import { hex } from "./helpers.ts";

it.each([
  [-1n, 2, true, "ffff"],
  [-(2n ** 63n), 8, true, "0000000000000080"],
  [2n ** 64n - 1n, 8, false, "ffffffffffffffff"],
  [258n, 4, false, "02010000"],
] as const)("writes %i in %i bytes, and reads it", (value, size, signed, text) => {
  const bytes = integerBytes(value, size, signed);
  expect(hex(bytes)).toBe(text);
  expect(bytes && readInteger(bytes, signed)).toBe(value);
});

it("knows what does not fit", () => {
  expect([128n, -129n].map((value) => integerBytes(value, 1, true))).toEqual([undefined, undefined]);
  expect([256n, -1n].map((value) => integerBytes(value, 1, false))).toEqual([undefined, undefined]);
});

it.each([2, 4, 8])("writes floats of %i bytes, and reads them", (size) => {
  for (const value of [1.5, -0, Number.POSITIVE_INFINITY, Number.NaN]) {
    expect(readFloat(floatBytes(value, size))).toBe(value);
  }
});

it("recognises NaNs with a payload", () => {
  expect(isCanonical(floatBytes(Number.NaN, 4))).toBe(true);
  expect(isCanonical(Uint8Array.of(0, 0, 0xc0, 0xff))).toBe(false);
  expect(isCanonical(floatBytes(-0, 8))).toBe(true);
  expect(bytesEqual(Uint8Array.of(1), Uint8Array.of(1, 2))).toBe(false);
});
