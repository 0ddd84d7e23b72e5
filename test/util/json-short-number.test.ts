import fc from "fast-check";
import { expect, test } from "vitest";
import { readShortNumber } from "../../src/util/json-short-number.ts";

test.each(["0.1", "-0.5", "0", "7", "-12.25", "123456789.123456", "0.000001", "999999999999999"])(
  "%s is read without its token",
  (token) => {
    expect(readShortNumber(`[${token}]`, 1)).toEqual({ value: Number(token), end: 1 + token.length });
  },
);

test.each([
  "-0",
  "1.0",
  "0.10",
  "01",
  "1e5",
  "1.5e3",
  "0.0000001",
  "1234567890123456",
  "-",
  "1.",
  ".5",
  "x",
  "",
])("%s is left to be read by its token", (token) => {
  expect(readShortNumber(token, 0)).toBeUndefined();
});

test("what is read is what JavaScript reads, and would write", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 14 }), (digits, decimals) => {
      const token = (digits / 10 ** decimals).toString();
      const read = readShortNumber(token, 0);
      if (read) expect([read.value, read.end]).toEqual([Number(token), token.length]);
    }),
  );
});
