import { type Row, refused } from "../rows.ts";
import { fillIn, hex, jsonAt, token, words } from "../stores.ts";
import { bytes, invalid, made } from "./kit.ts";

const INVALID = invalid("/fill_value");
const STRUCT = [["a", ">i2"]];

const table: readonly (readonly [dtype: unknown, fill: unknown, expected: unknown])[] = [
  ["<f8", "NaN", Number.NaN],
  ["<f8", "Infinity", Number.POSITIVE_INFINITY],
  ["<f8", "-Infinity", Number.NEGATIVE_INFINITY],
  ["<f8", token("NaN"), Number.NaN],
  ["<f8", token("-Infinity"), Number.NEGATIVE_INFINITY],
  ["<f4", 0.1, Math.fround(0.1)],
  ...["nan", "", true, [0]].map((fill) => ["<f8", fill, INVALID] as const),
  ["<i4", token("1.0"), 1],
  ["<u8", token("18446744073709551615"), 2n ** 64n - 1n],
  ["<i8", token("9007199254740993"), 9007199254740993n],
  ["<u8", token("18446744073709551616"), INVALID],
  ["<i4", "0", 0],
  ...[1.5, "x", true, token("NaN"), 2 ** 31].map((fill) => ["<i4", fill, INVALID] as const),
  ["|u1", -1, INVALID],
  ["|b1", true, 1],
  ["|b1", 1, 1],
  ...[2, "true", -1].map((fill) => ["|b1", fill, INVALID] as const),
  ["<c16", 1, INVALID],
  ["<c16", [1], INVALID],
  ["<c16", [1, "x"], refused("invalid-metadata", "/fill_value/1")],
  ["|S3", "YWI=", hex("6162")],
  ["|S3", 0, hex("")],
  ["|S3", "", hex("")],
  ...["YWJjZA==", "YWI", "Y-I=", 1].map((fill) => ["|S3", fill, INVALID] as const),
  ["|V3", "YWJj", hex("616263")],
  ["|V3", 0, hex("000000")],
  ["|V3", "YWI=", INVALID],
  [STRUCT, "AAE=", { a: 1 }],
  [STRUCT, 0, { a: 0 }],
  [STRUCT, "AA==", INVALID],
  [STRUCT, { a: 1 }, INVALID],
  ["<U2", "ab", "ab"],
  ["<U2", 0, ""],
  ["<U2", "abc", INVALID],
  ["<U2", 1, INVALID],
  ["<M8[s]", "NaT", -(2n ** 63n)],
  ["<M8[s]", 5, 5n],
  ["<M8[s]", "2020-01-01", INVALID],
  ["<m8[s]", 1.5, INVALID],
  ["|u1", null, 0],
];

export const fillRows: readonly Row[] = [
  ...table.map(([dtype, fill_value, expected]): Row => {
    const act = () => fillIn(bytes(1, { dtype, fill_value }));
    return ["V2-40", `${words(dtype)} with the fill value ${words(fill_value)}`, act, expected];
  }),
  [
    "V2-40",
    "the example is written",
    async () =>
      (await jsonAt(await made("", { dataType: "|S12", fillValue: "missing" }), ".zarray")).fill_value,
    "bWlzc2luZw==",
  ],
];
