import { describe, expect, test } from "vitest";
import { type DataTypeOption, parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { describeDataType } from "../../src/meta/describe.ts";

describe("data types as people write them", () => {
  test.each<[DataTypeOption | string, string, string | undefined]>([
    ["float32", "float32", "little"],
    [" uint8 ", "uint8", undefined],
    ["<f4", "float32", "little"],
    [">i2", "int16", "big"],
    ["|b1", "bool", undefined],
    ["datetime64[ns]", "datetime64[ns]", "little"],
    ["timedelta64[25s]", "timedelta64[25s]", "little"],
    ["S12", "S12", undefined],
    ["U5", "U5", "little"],
    ["V3", "r24", undefined],
    ["r24", "r24", undefined],
    ["string", "string", undefined],
    ["bytes", "binary", undefined],
    ["binary", "binary", undefined],
    [
      [
        ["x", "<i4"],
        ["y", ">f8", [2]],
      ],
      "struct{x: int32, y: float64[2]}",
      "little",
    ],
    [
      { name: "numpy.datetime64", configuration: { unit: "D", scale_factor: 1 } } as never,
      "datetime64[D]",
      "little",
    ],
    [{ kind: "complex", size: 16 }, "complex128", "little"],
  ])("%j", (option, words, endian) => {
    const stored = parseDataTypeOption(option);
    expect(describeDataType(stored.dataType)).toBe(words);
    expect(stored.endian).toBe(endian);
  });

  test.each([
    ["flaot32", "Did you mean `float32`?"],
    ["int", "Did you mean `int8`?"],
    ["<f3", "Use bool"],
    ["|O", "Use bool"],
    ["S0", "Use bool"],
    ["datetime64", "datetime64[ns]"],
    ["datetime64[fortnight]", "Use bool"],
  ])("%s is none", (option, hint) => {
    expect(() => parseDataTypeOption(option)).toThrow(
      expect.objectContaining({
        code: "unsupported-data-type",
        details: { value: option, hint: expect.stringContaining(hint) },
      }),
    );
  });
});
