import { expect, test } from "vitest";
import type { DataTypeName } from "../../src/meta/data-type-name.ts";
import { type DataTypeQuery, meetsQuery } from "../../src/meta/data-type-name.ts";
import { parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { describeDataType } from "../../src/meta/describe.ts";

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

test.each(MEMBERS)("%s means the data types whose items are such, and no others", (query, names) => {
  const found = NAMES.filter((name) =>
    meetsQuery(describeDataType(parseDataTypeOption(name).dataType) as DataTypeName, query),
  );
  expect(found).toEqual(NAMES.filter((name) => names.includes(name)));
});

test("a structure is of no group, whatever its fields are called", () => {
  for (const query of ["number", "bigint", "boolean", "string", "bytes"] as const)
    expect(meetsQuery("struct{float32: int64, U5: bool}", query)).toBe(false);
});
