import { describe, expect, test } from "vitest";
import { keeper, readNumbers, writeNumbers } from "../../../src/codecs/numbers/number-array.ts";
import type { NumberType } from "../../../src/codecs/numbers/number-type.ts";
import type { Endian } from "../../../src/meta/data-type.ts";

const VALUES: readonly (readonly [NumberType["kind"], NumberType["size"], readonly (number | bigint)[]])[] = [
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
];

describe.each(["little", "big"] satisfies Endian[])("%s-endian", (endian) => {
  test.each(VALUES)("%s of %i bytes are written and read, aligned or not", (kind, size, values) => {
    const type: NumberType = { kind, size, endian };
    for (const offset of [0, 1, 8]) {
      const bytes = new Uint8Array(offset + size * values.length).subarray(offset);
      writeNumbers(bytes, type, values.length, (numbers) => {
        for (const [i, value] of values.entries()) numbers[i] = value as never;
      });
      expect<unknown[]>([...readNumbers(bytes, type)]).toEqual(values);
    }
  });
});

test("bytes lie in the stated order", () => {
  const bytes = new Uint8Array(4);
  writeNumbers(bytes, { kind: "uint", size: 4, endian: "big" }, 1, (numbers) => {
    (numbers as Uint32Array)[0] = 0x0102_0304;
  });
  expect([...bytes]).toEqual([1, 2, 3, 4]);
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
  expect(keeper({ kind, size, endian: "little" })(value)).toBe(kept);
});
