import { describe, expect, test } from "vitest";
import { typedValues } from "../../../src/flows/slabs/typed-values.ts";
import {
  castBooleans,
  castNumbers,
  type NumberList,
  type Overflow,
} from "../../../src/flows/values/cast-numbers.ts";

function cast(values: NumberList, name: string, overflow: Overflow = "error") {
  const [, kind = "", bits = ""] = /^(u?int|float)(\d+)$/.exec(name) ?? [];
  const type = { kind: kind as "int", size: (Number(bits) / 8) as 1, endian: "little" } as const;
  const bytes = new Uint8Array(values.length * type.size);
  const notHeld = castNumbers(values, type, bytes, overflow);
  const data = { kind: "fixed", bytes, itemSize: type.size, shape: [values.length], strides: [1] } as const;
  return notHeld ?? Array.from(typedValues(data, { kind: type.kind, size: type.size }) as ArrayLike<number>);
}

describe("floats", () => {
  test("round to the nearest, ties to even", () => {
    expect(cast([1 + 2 ** -24, 1 + 3 * 2 ** -24], "float32")).toEqual([1, 1 + 2 ** -22]);
    expect(cast([1 + 2 ** -11, 0.1], "float16")).toEqual([1, 0.0999755859375]);
  });
  test("of integers of 64 bits round once", () => {
    const above = 2n ** 60n + 2n ** 36n + 1n;
    expect(cast(BigInt64Array.of(above), "float32")).toEqual([2 ** 60 + 2 ** 37]);
    expect(cast([above], "float32")).toEqual([2 ** 60 + 2 ** 37]);
  });
  test.each([
    ["float16", 65504],
    ["float32", (2 - 2 ** -23) * 2 ** 127],
  ])("of %s that are finite do not become infinite", (type, largest) => {
    const values = Float64Array.of(1, -1e300, Number.POSITIVE_INFINITY, Number.NaN, 1e300);
    expect(cast(values, type)).toEqual({ count: 2, index: 1, value: -1e300 });
    expect(cast(values, type, "clamp")).toEqual([1, -largest, Number.POSITIVE_INFINITY, Number.NaN, largest]);
  });
});

describe("integers", () => {
  test("hold whole numbers of their range", () => {
    expect(cast([-128, 127, -0], "int8")).toEqual([-128, 127, 0]);
    expect(cast(Float64Array.of(0, 128, 1.5, -129), "int8")).toEqual({ count: 3, index: 1, value: 128 });
    expect(cast([Number.NaN], "uint64")).toEqual({ count: 1, index: 0, value: Number.NaN });
  });
  test("of 64 bits keep all digits", () => {
    expect(cast([2n ** 63n - 1n], "int64")).toEqual([2n ** 63n - 1n]);
    expect(cast([2n ** 63n], "int64")).toEqual({ count: 1, index: 0, value: 2n ** 63n });
    expect(cast([-1n, 2 ** 52 - 0.5], "uint64", "clamp")).toEqual([0n, 2n ** 52n]);
    expect(cast([2 ** 51 + 0.5], "int64", "clamp")).toEqual([2n ** 51n]);
  });
  test("clamped are the nearest, ties to even, but of NaN and infinities", () => {
    expect(cast([1.5, 2.5, 300, -1], "uint8", "clamp")).toEqual([2, 2, 255, 0]);
    expect(cast([1, Number.NEGATIVE_INFINITY], "uint8", "clamp")).toMatchObject({ count: 1, index: 1 });
  });
});

test("truth values are 0 and 1", () => {
  const bytes = new Uint8Array(3);
  expect(castBooleans([0, 1, 2], bytes, "error")).toEqual({ count: 1, index: 2, value: 2 });
  expect(castBooleans([0.5, 0.6, 2n], bytes, "clamp")).toBeUndefined();
  expect([...bytes]).toEqual([0, 1, 1]);
});
