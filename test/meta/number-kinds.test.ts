import { describe, expect, it } from "vitest";
import {
  integerBytes,
  isCanonical,
  NUMBER_KINDS,
  numberBytes,
  numberKindOf,
  readNumber,
} from "../../src/meta/number-kinds.ts";
import { hex } from "./helpers.ts";

/** The kind of this name. */
function kindNamed(name: string) {
  return NUMBER_KINDS.find((kind) => kind.name === name) ?? expect.fail(`there is no ${name}`);
}

const FLOATS = NUMBER_KINDS.filter(({ type }) => type.kind === "float");

it.each(NUMBER_KINDS)("$name is the record of its own data type", (kind) => {
  expect(numberKindOf(kind.type)).toBe(kind);
});

it("times have records of their own; other types have none", () => {
  expect(numberKindOf({ kind: "timedelta", size: 8, unit: "s", scale: 1 }).name).toBe("timedelta64");
  expect(numberKindOf({ kind: "string" })).toBeUndefined();
});

describe("integers", () => {
  it.each([
    [-1n, "int16", "ffff"],
    [-(2n ** 63n), "int64", "0000000000000080"],
    [2n ** 64n - 1n, "uint64", "ffffffffffffffff"],
    [258n, "uint32", "02010000"],
  ])("%i in bytes of %s", (value, name, text) => {
    const bytes = integerBytes(value, kindNamed(name));
    expect(hex(bytes)).toBe(text);
    expect(bytes && BigInt(readNumber(bytes, kindNamed(name)))).toBe(value);
  });

  it("are refused out of their range", () => {
    for (const value of [128n, -129n]) expect(integerBytes(value, kindNamed("int8"))).toBeUndefined();
    for (const value of [256n, -1n]) expect(integerBytes(value, kindNamed("uint8"))).toBeUndefined();
  });
});

describe.each(FLOATS)("$name", (kind) => {
  it("is written, and read", () => {
    for (const value of [1.5, -0, Number.POSITIVE_INFINITY, Number.NaN]) {
      expect(readNumber(numberBytes(value, kind), kind)).toBe(value);
    }
  });

  it("has one canonical NaN", () => {
    const nan = numberBytes(Number.NaN, kind);
    expect(isCanonical(nan, kind)).toBe(true);
    nan[0] = (nan[0] ?? 0) | 1;
    expect(isCanonical(nan, kind)).toBe(false);
    expect(isCanonical(numberBytes(-0, kind), kind)).toBe(true);
  });
});
