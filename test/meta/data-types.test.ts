import { describe, expect, it } from "vitest";
import { describeCodec } from "../../src/meta/codec-traits.ts";
import {
  type DataType,
  type FixedDataType,
  fieldItems,
  hasByteOrder,
  swapItem,
  swapUnit,
} from "../../src/meta/data-type.ts";
import {
  type DataTypeName,
  type DataTypeQuery,
  describeDataType,
  meetsQuery,
} from "../../src/meta/data-type-name.ts";
import { type DataTypeOption, parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { JsonNumber, type JsonObject } from "../../src/util/json-value.ts";
import { json, named } from "./helpers.ts";

describe("data types as people write them", () => {
  it.each<[DataTypeOption | string, string, string | undefined]>([
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
    [json('[["x", "<i4"], ["y", ">f8", [2]]]') as never, "struct{x: int32, y: float64[2]}", "little"],
    [named("numpy.datetime64", { unit: "D", scale_factor: 1 }) as never, "datetime64[D]", "little"],
    [{ kind: "complex", size: 16 }, "complex128", "little"],
  ])("%j", (option, words, endian) => {
    const stored = parseDataTypeOption(option);
    expect(describeDataType(stored.dataType)).toBe(words);
    expect(stored.endian).toBe(endian);
  });

  it.each([
    ["flaot32", "Did you mean `float32`?"],
    ["struct", "type string of NumPy"],
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

const MEMBERS: readonly [DataTypeQuery, readonly string[]][] = [
  ["number", ["int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "float32", "float64"]],
  ["bigint", ["int64", "uint64", "datetime64[ns]", "timedelta64[25s]"]],
  ["boolean", ["bool"]],
  ["string", ["string", "U5"]],
  ["bytes", ["binary", "S12", "r24"]],
  ["float32", ["float32"]],
  ["object", ["object"]],
];
const NAMES = [...new Set(MEMBERS.flatMap(([, names]) => names)), "complex64", "complex128"];

it.each(MEMBERS)("%s means the data types whose items are such, and no others", (query, names) => {
  const found = NAMES.filter((name) =>
    meetsQuery(describeDataType(parseDataTypeOption(name).dataType) as DataTypeName, query),
  );
  expect(found).toEqual(NAMES.filter((name) => names.includes(name)));
});

it("a structure is of no group, whatever its fields are called", () => {
  for (const query of ["number", "bigint", "boolean", "string", "bytes"] as const)
    expect(meetsQuery("struct{float32: int64, U5: bool}", query)).toBe(false);
});

it.each<[string, JsonObject, string]>([
  ["blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 }, "blosc(lz4, 5, shuffle)"],
  ["gzip", { level: 1 }, "gzip(1)"],
  ["zstd", { level: -5, checksum: true }, "zstd(-5)"],
  ["bytes", { endian: "little" }, "bytes(little)"],
  ["bytes", {}, "bytes"],
  ["transpose", { order: [1, 0] }, "transpose([1, 0])"],
  ["crc32c", {}, "crc32c"],
  ["delta", { dtype: "<f8", astype: "<f4" }, "delta(dtype=<f8, astype=<f4)"],
  [
    "jenkins_lookup3",
    { initval: new JsonNumber("18446744073709551615"), prefix: null },
    "jenkins_lookup3(initval=18446744073709551615, prefix=null)",
  ],
  ["odd", { a: { b: [1] } }, 'odd(a={"b":[1]})'],
  [
    "sharding_indexed",
    {
      chunk_shape: [32, 32],
      codecs: [named("bytes", { endian: "little" }), named("zstd", { level: 3 })],
    },
    "sharding_indexed([32, 32], bytes(little) + zstd(3))",
  ],
])("describes %s %j", (name, configuration, words) => {
  expect(describeCodec({ name, configuration })).toBe(words);
});

it.each<[DataType, string]>([
  [{ kind: "bool", size: 1 }, "bool"],
  [{ kind: "uint", size: 2 }, "uint16"],
  [{ kind: "float", size: 4 }, "float32"],
  [{ kind: "complex", size: 8 }, "complex64"],
  [{ kind: "datetime", size: 8, unit: "ns", scale: 1 }, "datetime64[ns]"],
  [{ kind: "timedelta", size: 8, unit: "s", scale: 25 }, "timedelta64[25s]"],
  [{ kind: "fixed-bytes", size: 12 }, "S12"],
  [{ kind: "fixed-text", size: 20 }, "U5"],
  [{ kind: "raw", size: 3 }, "r24"],
  [{ kind: "string" }, "string"],
  [{ kind: "object" }, "object"],
  [
    {
      kind: "struct",
      size: 21,
      fields: [
        { name: "x", dataType: { kind: "int", size: 4 } },
        { name: "y", dataType: { kind: "float", size: 8 }, shape: [2] },
        { name: "", dataType: { kind: "raw", size: 1 } },
      ],
    },
    "struct{x: int32, y: float64[2], padding: r8}",
  ],
])("names %j", (dataType, name) => expect(describeDataType(dataType)).toBe(name));

describe("the order of bytes", () => {
  const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i);

  it("turns numbers, halves of complex numbers and code points around", () => {
    expect([...swapItem(bytes(4), { kind: "int", size: 4 }, "big")]).toEqual([3, 2, 1, 0]);
    expect([...swapItem(bytes(8), { kind: "complex", size: 8 }, "big")]).toEqual([3, 2, 1, 0, 7, 6, 5, 4]);
    expect([...swapItem(bytes(8), { kind: "fixed-text", size: 8 }, "big")]).toEqual([3, 2, 1, 0, 7, 6, 5, 4]);
    expect([...swapItem(bytes(4), { kind: "int", size: 4 }, "little")]).toEqual([0, 1, 2, 3]);
    expect([...swapItem(bytes(4), { kind: "raw", size: 4 }, "big")]).toEqual([0, 1, 2, 3]);
  });

  it("swaps each field by its own order, sub-arrays item by item, and back", () => {
    const struct: FixedDataType = {
      kind: "struct",
      size: 11,
      fields: [
        { name: "a", dataType: { kind: "int", size: 2 }, endian: "big" },
        { name: "b", dataType: { kind: "uint", size: 1 } },
        { name: "c", dataType: { kind: "int", size: 2 }, shape: [2], endian: "big" },
        {
          name: "d",
          dataType: {
            kind: "struct",
            size: 4,
            fields: [{ name: "e", dataType: { kind: "int", size: 2 }, shape: [2, 1] }],
          },
        },
      ],
    };
    expect(struct.fields.map(fieldItems)).toEqual([1, 1, 2, 1]);
    const swapped = swapItem(bytes(11), struct, "little");
    expect([...swapped]).toEqual([1, 0, 2, 4, 3, 6, 5, 7, 8, 9, 10]);
    expect(swapItem(swapped, struct, "little")).toEqual(bytes(11));
    expect([...swapItem(bytes(11), struct, "big")]).toEqual([1, 0, 2, 4, 3, 6, 5, 8, 7, 10, 9]);
  });

  it("knows what has a byte order", () => {
    expect(swapUnit({ kind: "complex", size: 16 })).toBe(8);
    expect(hasByteOrder({ kind: "fixed-bytes", size: 8 })).toBe(false);
    expect(hasByteOrder({ kind: "bool", size: 1 })).toBe(false);
    expect(hasByteOrder({ kind: "fixed-text", size: 8 })).toBe(true);
    const field = { name: "a", dataType: { kind: "uint", size: 1 } } as const;
    expect(hasByteOrder({ kind: "struct", size: 1, fields: [field] })).toBe(false);
  });
});
