import { describe, expect, it } from "vitest";
import { parseDecimal, parseInteger } from "../../src/util/decimal.ts";

describe("parseDecimal", () => {
  it.each([
    ["0", { negative: false, digits: "", exponent: 0 }],
    ["-0.00e5", { negative: true, digits: "", exponent: 0 }],
    ["120", { negative: false, digits: "12", exponent: 1 }],
    ["-0.0120E+3", { negative: true, digits: "12", exponent: 0 }],
  ])("%s", (token, decimal) => {
    expect(parseDecimal(token)).toEqual(decimal);
  });
});

describe("parseInteger", () => {
  it.each([
    ["18446744073709551615", 18446744073709551615n],
    ["-9223372036854775808", -9223372036854775808n],
    ["1.0", 1n],
    ["1.5e1", 15n],
    ["-0", 0n],
  ])("%s", (token, value) => {
    expect(parseInteger(token)).toBe(value);
  });

  it.each(["1.5", "1e-1", "1e21", "1e999999999", `1${"0".repeat(30)}`])(
    "%s is none, or too long",
    (token) => {
      expect(parseInteger(token)).toBeUndefined();
    },
  );
});

it("takes a time that grows with the digits, also over hostile ones", () => {
  expect(parseDecimal(`1${"0".repeat(1_000_000)}1`).digits).toHaveLength(1_000_002);
  expect(parseInteger(`${"0".repeat(1_000_000)}1`)).toBe(1n);
});
