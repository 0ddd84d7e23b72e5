import { expect, test } from "vitest";
import { ConfigReader } from "../../../src/codecs/config-reader.ts";
import { numberType } from "../../../src/codecs/numbers/number-type.ts";
import { errorOf } from "../support.ts";

test.each([
  ["<f4", { kind: "float", size: 4, endian: "little" }],
  [">i8", { kind: "int", size: 8, endian: "big" }],
  ["|u1", { kind: "uint", size: 1, endian: "little" }],
  ["i2", { kind: "int", size: 2, endian: "little" }],
  ["<M8[ns]", { kind: "int", size: 8, endian: "little" }],
])("%s", (dtype, expected) => {
  expect(numberType(new ConfigReader({ dtype }), "dtype")).toEqual(expected);
});

test.each(["|b1", "<c8", "|S4", "<f1", "f16", "|O", ""])("%j is refused", async (dtype) => {
  await errorOf(() => numberType(new ConfigReader({ dtype }), "dtype"), "unsupported-data-type");
});

test("an absent name takes the fallback, or is an error", async () => {
  const fallback = { kind: "int", size: 8, endian: "little" } as const;
  expect(numberType(new ConfigReader({}), "astype", fallback)).toBe(fallback);
  await errorOf(() => numberType(new ConfigReader({}), "dtype"), "invalid-metadata");
});
