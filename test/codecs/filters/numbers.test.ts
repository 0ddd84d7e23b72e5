import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigReader } from "../../../src/codecs/config-reader.ts";
import {
  castTo,
  convertNumbers,
  floatRounder,
  ROUNDINGS,
  roundToEven,
} from "../../../src/codecs/filters/convert.ts";
import {
  keeper,
  type NumberType,
  numberType,
  readNumbers,
  writeNumbers,
} from "../../../src/codecs/filters/number-array.ts";
import { makeCodec } from "../../../src/codecs/registry.ts";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { integerRange, type NumberKind, numberKindOf } from "../../../src/meta/number-kinds.ts";
import { errorOf, RAW, specOf } from "../support.ts";

const type = (kind: NumberType["kind"], size: NumberType["size"]) =>
  ({ kind, size, endian: "little" }) as NumberType;
const [HALF, SINGLE, DOUBLE] = ([2, 4, 8] as const).map((size) => numberKindOf(type("float", size))) as [
  NumberKind,
  NumberKind,
  NumberKind,
];
const INT1 = type("int", 1);
const UINT8 = type("uint", 8);

describe("casts", () => {
  test("round floats to integers as asked", () => {
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

  test("refuse what is out of range, or clamp or wrap it, once rounded", async () => {
    const cast = castTo(INT1, "nearest-even", "error");
    for (const value of [128, -128.6, 2n ** 40n, Infinity, NaN])
      expect((await errorOf(() => cast(value), "codec-error")).details.hint).toContain("out_of_range");
    expect(cast(127.4)).toBe(127);
    const clamp = castTo(INT1, "nearest-even", "clamp");
    expect([128, -1e30, 2n ** 63n, -(2n ** 63n)].map(clamp)).toEqual([127, -128, 127, -128]);
    await errorOf(() => clamp(Infinity), "codec-error");
    const wrap = castTo(type("int", 2), "towards-zero", "wrap");
    expect([32768, 32769, -32769, 2n ** 16n + 3n, 65536.9].map(wrap)).toEqual([-32768, -32767, 32767, 3, 0]);
    expect(castTo(UINT8, "nearest-even", "wrap")(-1)).toBe(2n ** 64n - 1n);
    await errorOf(() => wrap(NaN), "codec-error");
  });

  test("make floats infinite only where clamped", async () => {
    expect(castTo(type("float", 4), "nearest-even", "clamp")(-1e300)).toBe(-Infinity);
    expect(castTo(type("float", 4), "nearest-even", "error")(-Infinity)).toBe(-Infinity);
    await errorOf(() => castTo(type("float", 2), "nearest-even", "error")(70_000), "codec-error");
  });

  test("keep all digits of integers of 64 bits", () => {
    const cast = castTo(UINT8, "nearest-even", "error");
    expect([cast(2n ** 64n - 1n), cast(2 ** 53)]).toEqual([2n ** 64n - 1n, 2n ** 53n]);
    expect(castTo(type("float", 8), "nearest-even", "error")(2n ** 53n)).toBe(2 ** 53);
    expect(integerRange(numberKindOf(UINT8))).toEqual({ least: 0n, most: 2n ** 64n - 1n });
  });

  // The results are those of NumPy's `astype`.
  test.each([
    ["floats are cut towards zero", Float64Array.of(1.9, -1.9, 127), Int8Array.of(1, -1, 127)],
    ["integers wrap", Int32Array.of(300, -1, 65_536), Uint8Array.of(44, 255, 0)],
    ["to smaller floats", Float64Array.of(0.1, 1e300), Float32Array.of(0.1, Number.POSITIVE_INFINITY)],
    ["wide to narrow", BigInt64Array.of(-1n, 2n ** 32n + 5n), Int32Array.of(-1, 5)],
    ["wide to small unsigned", BigUint64Array.of(2n ** 64n - 1n), Uint16Array.of(65_535)],
    ["wide to floats", BigInt64Array.of(-(2n ** 53n)), Float64Array.of(-(2 ** 53))],
    ["narrow to wide", Int8Array.of(-1), BigInt64Array.of(-1n)],
    ["unsigned to wide", Uint32Array.of(2 ** 32 - 1), BigUint64Array.of(2n ** 32n - 1n)],
    ["negative to wide unsigned", Int8Array.of(-1), BigUint64Array.of(2n ** 64n - 1n)],
    ["floats to wide", Float64Array.of(-1.5, 2 ** 60), BigInt64Array.of(-1n, 2n ** 60n)],
    ["what is no number to wide", Float64Array.of(Number.NaN), BigInt64Array.of(-(2n ** 63n))],
    ["wide to wide", BigInt64Array.of(-1n), BigUint64Array.of(2n ** 64n - 1n)],
  ])("as NumPy has them: %s", (_, from, expected) => {
    const to = new (expected.constructor as Float64ArrayConstructor)(from.length);
    convertNumbers(from, to);
    expect<unknown>(to).toEqual(expected);
  });
});

describe("rounding of floats", () => {
  const near = (value: number | bigint, kind: NumberKind) =>
    Object.fromEntries(ROUNDINGS.map((rounding) => [rounding, floatRounder(kind, rounding)(value)]));

  test("to even is what it says, and to the nearest is what the machine does", () => {
    const values = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 2 ** 51 + 1, 1e300, -Infinity, NaN];
    expect(values.map(roundToEven)).toEqual([0, 2, 2, -0, -2, 0, 2 ** 51 + 1, 1e300, -Infinity, NaN]);
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(floatRounder(SINGLE, "nearest-even")(value)).toBe(Math.fround(value));
        expect(floatRounder(HALF, "nearest-even")(value)).toBe(HALF.bits?.fromBits(HALF.bits.toBits(value)));
        expect(floatRounder(DOUBLE, "towards-zero")(value)).toBe(value);
      }),
    );
  });

  test("does not round bigints twice", () => {
    // Halfway between two floats of 4 bytes, and a little more: by way of a double it would be a tie.
    const round = floatRounder(SINGLE, "nearest-even");
    expect(round(2n ** 60n + 2n ** 36n + 1n)).toBe(2 ** 60 + 2 ** 37);
    expect(round(2n ** 60n + 2n ** 36n)).toBe(2 ** 60);
    expect(round(-(2n ** 60n) - 3n * 2n ** 36n)).toBe(-(2 ** 60) - 2 ** 38);
    expect(floatRounder(DOUBLE, "nearest-even")(2n ** 53n + 1n)).toBe(2 ** 53);
    expect(floatRounder(DOUBLE, "nearest-away")(2n ** 53n + 1n)).toBe(2 ** 53 + 2);
  });

  test("goes in every direction: ties, beyond the largest, and what needs none", () => {
    const inOrder = (value: number) => ROUNDINGS.toSorted().map((rounding) => near(value, HALF)[rounding]);
    expect(ROUNDINGS.toSorted().map((one) => one.split("-")[1])).toEqual(
      "away even negative positive zero".split(" "),
    );
    expect(inOrder(2049)).toEqual([2050, 2048, 2048, 2050, 2048]);
    expect(inOrder(-2049)).toEqual([-2050, -2048, -2050, -2048, -2048]);
    expect(near(65519, HALF)).toMatchObject({ "nearest-even": 65504, "towards-positive": Infinity });
    expect(near(65520, HALF)).toMatchObject({ "nearest-even": Infinity, "towards-zero": 65504 });
    expect(near(65536, HALF)).toMatchObject({ "towards-zero": Infinity });
    expect(near(1e300, SINGLE)).toMatchObject({ "towards-zero": Infinity });
    for (const kind of [HALF, SINGLE, DOUBLE]) {
      for (const value of [0, -0, 1, -0.5, Infinity, -Infinity, NaN])
        for (const found of Object.values(near(value, kind))) expect(found).toBe(value);
    }
  });

  test("finds the neighbors that enclose a value", () =>
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -1e38, max: 1e38 }), (value) => {
        const low = floatRounder(SINGLE, "towards-negative")(value);
        const high = floatRounder(SINGLE, "towards-positive")(value);
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        expect([low, high]).toContain(Math.fround((low + high) / 2));
      }),
    ));
});

describe("numbers in bytes", () => {
  test.each<[NumberType["kind"], NumberType["size"], readonly (number | bigint)[]]>([
    ["int", 1, [-128, 0, 127]],
    ["uint", 1, [0, 255]],
    ["int", 2, [-32_768, 258]],
    ["uint", 2, [258, 65_535]],
    ["int", 4, [-(2 ** 31), 16_909_060]],
    ["uint", 4, [2 ** 32 - 1, 1]],
    ["int", 8, [-(2n ** 63n), 72_623_859_790_382_856n]],
    ["uint", 8, [2n ** 64n - 1n, 1n]],
    ["float", 2, [1.5, -0.0999755859375, Number.POSITIVE_INFINITY, 2 ** -24]],
    ["float", 4, [Math.fround(0.1), -3]],
    ["float", 8, [0.1, -5e-324]],
  ])("%s of %i bytes are written and read, aligned or not, in the stated order", (kind, size, values) => {
    for (const offset of [0, 1, 8]) {
      const [little, big] = (["little", "big"] as const).map((endian) => {
        const bytes = new Uint8Array(offset + size * values.length).subarray(offset);
        writeNumbers(bytes, { ...type(kind, size), endian }, values.length, (numbers) => {
          for (const [i, value] of values.entries()) numbers[i] = value as never;
        });
        expect<unknown[]>([...readNumbers(bytes, { ...type(kind, size), endian })]).toEqual(values);
        return bytes;
      });
      for (let i = 0; i < values.length; i++) big?.subarray(i * size, (i + 1) * size).reverse();
      expect(little).toEqual(big);
    }
  });

  test.each([
    ["int", 1, 200, -56],
    ["uint", 1, -1, 255],
    ["int", 2, 40_000, -25_536],
    ["uint", 4, -1, 2 ** 32 - 1],
    ["int", 4, 2 ** 31, -(2 ** 31)],
    ["float", 4, 0.1, Math.fround(0.1)],
    ["float", 2, 2049, 2048],
    ["float", 8, 0.1, 0.1],
  ] as const)("%s of %i bytes keeps %d as %d", (kind, size, value, kept) => {
    expect(keeper(type(kind, size))(value)).toBe(kept);
  });

  test("types go by their names; absent ones take the fallback, others are refused", async () => {
    const typeOf = (dtype: string) => numberType(new ConfigReader({ dtype }), "dtype");
    expect(["<f4", "|u1", "i2", "<M8[ns]"].map(typeOf)).toEqual([
      type("float", 4),
      type("uint", 1),
      type("int", 2),
      type("int", 8),
    ]);
    expect(typeOf(">i8")).toEqual({ kind: "int", size: 8, endian: "big" });
    for (const dtype of ["|b1", "<c8", "|S4", "<f1", "f16", "|O", ""])
      await errorOf(() => typeOf(dtype), "unsupported-data-type");
    expect(numberType(new ConfigReader({}), "astype", INT1)).toBe(INT1);
    await errorOf(() => numberType(new ConfigReader({}), "dtype"), "invalid-metadata");
  });
});

/** Bytes of the buffers that `run` makes; none is given back before the next turn of the event loop at least. */
function made(run: () => unknown): number {
  const before = process.memoryUsage().arrayBuffers;
  run();
  return process.memoryUsage().arrayBuffers - before;
}

test.each<CodecConfig>([
  ...["|i1", ">i2", "<i4", ">i8", "<f2", ">f2", "<f4", ">f8"].map((dtype) => ({
    name: "delta",
    configuration: { dtype },
  })),
  { name: "delta", configuration: { dtype: "<f4", astype: "<f2" } },
  { name: "delta", configuration: { dtype: ">i8", astype: ">i4" } },
  { name: "astype", configuration: { decode_dtype: ">f8", encode_dtype: ">f2" } },
  { name: "quantize", configuration: { digits: 2, dtype: "<f2" } },
  { name: "fixedscaleoffset", configuration: { dtype: ">f2", astype: "|u1", scale: 2, offset: 1 } },
  { name: "fixedscaleoffset", configuration: { dtype: "<f2", scale: 2, offset: 1 } },
  { name: "fixedscaleoffset", configuration: { dtype: "|i1", astype: "|i1", scale: 1, offset: 0 } },
])("$name with $configuration holds no more than it states", { tags: ["slow"] }, async (config) => {
  const items = 200_000;
  const codec = await makeCodec(config, { spec: specOf([items], RAW(1)), itemSize: 1, endian: "little" });
  if (codec.kind !== "bytes-to-bytes") throw new Error("no filter");
  const dtype = String(config.configuration.dtype ?? config.configuration.decode_dtype);
  // Neither is aligned.
  const source = new Uint8Array(items * Number(dtype[2]) + 1).subarray(1);
  const target = new Uint8Array(codec.maxEncodedSize(source.length) + 1).subarray(1);
  // what the test itself, and views, take, too
  const limit = (codec.scratchSize?.(source.length) ?? 0) + 65_536;
  expect(made(() => codec.encodeInto(source, target))).toBeLessThanOrEqual(limit);
  expect(made(() => codec.decodeInto(target, source))).toBeLessThanOrEqual(limit);
});
