import { expect } from "vitest";
import { open, setAttributes, validate } from "../../../src/index.ts";
import { all } from "../../support/consume.ts";
import { type Row, refused, row } from "../rows.ts";
import {
  codecsIn,
  fillIn,
  hex,
  jsonAt,
  nodeIn,
  opens,
  storeOf,
  textAt,
  token,
  typeIn,
  valuesIn,
  words,
} from "../stores.ts";
import { array, bytes, group, invalid, made, ZARRAY, ZGROUP } from "./kit.ts";

const TYPES_OF_NONE = [
  ...["i4", "b1", "=i4", "|i4", "|f8", "|U3", "|M8[ns]", "<i3", "<f16", "<c32", "<b2", "", "|O8"],
  ...["<M8", "<M8[q]", "<m8[0s]", "|S0", "<U0", "|V0"],
];
const INVALID_TYPES = [
  ...[3, null, {}, [], [["a"]], ["<i4"], [[1, "<i4"]], [["a", "<i4", "x"]], [["a", "<i4", [-1]]]],
  [
    ["a", "<i4"],
    ["a", "<i4"],
  ],
];

const refusals = (
  [
    ...Object.keys(ZARRAY)
      .filter((name) => name !== "filters")
      .map((name) => ["V2-10", { [name]: undefined }, invalid(`/${name}`)]),
    ["V2-10", { zarr_format: "2" }, invalid("/zarr_format")],
    ["V2-10", { zarr_format: true }, invalid("/zarr_format")],
    ["V2-10", { zarr_format: 3 }, refused("unsupported-format", { pointer: "/zarr_format", value: "3" })],
    ["V2-11", { shape: [4, -6] }, invalid("/shape/1")],
    ["V2-11", { shape: [4, "6"] }, invalid("/shape/1")],
    ["V2-11", { shape: 4 }, invalid("/shape")],
    ["V2-11", { chunks: [2, 2.5] }, invalid("/chunks/1")],
    ["V2-11", { chunks: [2, token("3.0")] }, invalid("/chunks/1")],
    ["V2-11", { chunks: [0, 3] }, invalid("/chunks/0")],
    ["V2-11", { chunks: [2] }, invalid("/chunks")],
    ["V2-11", { chunks: true }, invalid("/chunks")],
    ["V2-12", { dimension_separator: "-" }, invalid("/dimension_separator")],
    ["V2-12", { dimension_separator: null }, invalid("/dimension_separator")],
    ["V2-14", { compressor: "zlib" }, invalid("/compressor")],
    ["V2-14", { compressor: {} }, invalid("/compressor/id")],
    ["V2-14", { filters: {} }, invalid("/filters")],
    ["V2-14", { filters: [{}] }, invalid("/filters/0/id")],
    ["V2-15", { order: "A" }, invalid("/order")],
    ["V2-15", { order: null }, invalid("/order")],
    ...TYPES_OF_NONE.map((dtype) => [
      ["<M8", "<M8[q]", "<m8[0s]"].includes(dtype) ? "V2-21" : /0$/.test(dtype) ? "V2-25" : "V2-20",
      { dtype, fill_value: null },
      refused("unsupported-data-type", { pointer: "/dtype", value: JSON.stringify(dtype) }),
    ]),
    ...INVALID_TYPES.map((dtype) => ["V2-22", { dtype, fill_value: null }, invalid("/dtype")]),
    ["V2-22", { dtype: [["a", "i4"]] }, refused("unsupported-data-type", "/dtype")],
    ["V2-52", { compressor: { id: "nosuch" } }, refused("unsupported-codec", "/compressor/id")],
    ["V2-52", { compressor: { id: "__proto__" } }, refused("unsupported-codec", "/compressor/id")],
    [
      "V2-52",
      { filters: [{ id: "delta", dtype: "<i4" }, { id: "nosuch" }] },
      refused("unsupported-codec", { pointer: "/filters/1/id", codec: "nosuch", key: ".zarray" }),
    ],
    ["V2-53", { filters: [{ id: "delta" }] }, invalid("/filters/0/dtype")],
    ["V2-54", { compressor: { id: "zlib", level: 10 } }, "array"],
    ["V2-55", { compressor: { id: "blosc", clevel: 10 } }, "array"],
    ["V2-55", { compressor: { id: "blosc", shuffle: 3 } }, "array"],
    ["V2-56", { dtype: "|O", fill_value: null }, invalid("/filters")],
    ["V2-56", { dtype: "|O", fill_value: null, filters: [{ id: "zlib" }] }, invalid("/filters")],
    ["V2-56", { dtype: "|O", filters: [{ id: "pickle" }] }, refused("unsupported-codec", "/filters/0/id")],
  ] as [string, object, unknown][]
).map(([id, members, expected]) => row(id, words(members), expected, () => opens(array(members))));

const readings = (
  [
    ["V2-10", { filters: undefined }],
    ["V2-11", { shape: [0, 6], chunks: [0, 3] }],
    ["V2-11", { chunks: [100, 3] }],
    ["V2-11", { shape: [], chunks: [] }],
    ["V2-13", { more: 1 }],
    ["V2-14", { filters: [] }],
  ] as [string, object][]
).map(([id, members]) => row(id, `${words(members)} is taken`, "array", () => opens(array(members))));

const types = (
  [
    ["V2-20", "<S3", { kind: "fixed-bytes", size: 3 }],
    ["V2-20", ">u1", { kind: "uint", size: 1 }],
    ["V2-20", "<U3", { kind: "fixed-text", size: 12 }],
    ["V2-21", "<M8[25s]", { kind: "datetime", size: 8, unit: "s", scale: 25 }],
    ["V2-21", "<m8[μs]", { kind: "timedelta", size: 8, unit: "us", scale: 1 }],
  ] as const
).map(([id, dtype, expected]) => row(id, dtype, expected, () => typeIn(array({ dtype, fill_value: null }))));

/** One item of these fields, each a name and a type. */
function struct(chunk: string, ...fields: string[]) {
  return bytes(1, { dtype: fields.map((field) => field.split(" ")), fill_value: null }, chunk);
}

const elements: Row[] = [
  row("V2-20", "any byte but 0 is true", [0, 1, 1], bytes(3, { dtype: "|b1", fill_value: false }, "0001ff")),
  row("V2-20", "zeros at the end are padding", [hex("61"), hex("0062")], () =>
    valuesIn(bytes(2, { dtype: "|S3", fill_value: null }, "610000 006200")),
  ),
  row("V2-20", "text in big-endian", ["a\u{1f600}"], () =>
    valuesIn(bytes(1, { dtype: ">U2", fill_value: null }, "00000061 0001f600")),
  ),
  row("V2-23", "padding is hidden", [{ a: 1, b: 4 }], struct("01020304", "a |u1", " |V2", "b |u1")),
  row("V2-24", "byte orders by field", [{ a: 1, b: 2 }], struct("0001 0200", "a >i2", "b <i2")),
];

const partly = (members: object) => expect.objectContaining(members);

const WITHOUT_PERIOD = expect.not.objectContaining({ dimension_separator: expect.anything() });

const documents: Row[] = [
  row("V2-14", "an empty list is null", [["bytes", { endian: "little" }]], () =>
    codecsIn(array({ filters: [] })),
  ),
  row("V2-14", "null is written", partly({ filters: null, compressor: null }), async () =>
    jsonAt(await made(""), ".zarray"),
  ),
  row("V2-12", "a period is not written", WITHOUT_PERIOD, async () => jsonAt(await made(""), ".zarray")),
  row("V2-12", "a slash is", partly({ dimension_separator: "/" }), async () =>
    jsonAt(await made("", { separator: "/" }), ".zarray"),
  ),
  row("V2-13", "other names are kept by an edit", 1, async () => (await edited({ more: 1 })).more),
  row("V2-16", "ASCII, sorted, without a final newline", '{\n    "a": [],\n    "b": "\\u00e9"\n}', async () =>
    textAt(await made("", { attributes: { b: "é", a: [] } }), ".zattrs"),
  ),
  row("V2-25", "creation of no bytes", refused("unsupported-data-type", {}), () =>
    made("", { dataType: "|S0" }),
  ),
  ...(
    [
      [undefined, "invalid-metadata"],
      [3, "unsupported-format"],
      ["2", "invalid-metadata"],
    ] as const
  ).map(([zarr_format, code]) =>
    row("V2-73", words(zarr_format), refused(code, { pointer: "/zarr_format", key: ".zgroup" }), () =>
      nodeIn(group({ zarr_format })),
    ),
  ),
  row("V2-73", "other names are ignored", "group", () => opens(group({ more: 1 }))),
  row("V2-73", "and reported", ["/more"], () => reported({ ".zgroup": { ...ZGROUP, more: 1 } })),
  ...[array({}, { ".zattrs": [] }), array({}, { ".zattrs": "null" }), group({}, { ".zattrs": 3 })].map(
    (content) =>
      row("V2-77", words(content[".zattrs"]), refused("invalid-metadata", { key: ".zattrs" }), () =>
        nodeIn(content),
      ),
  ),
  row(
    "V2-77",
    "bare tokens",
    partly({ attributes: { a: [Number.NaN, { b: Number.NEGATIVE_INFINITY }] } }),
    () => nodeIn(group({}, { ".zattrs": '{"a": [NaN, {"b": -Infinity}]}' })),
  ),
  row("V2-78", "another format", refused("unsupported-format", "/zarr_consolidated_format"), () =>
    nodeIn({ ".zmetadata": { zarr_consolidated_format: 2, metadata: {} } }),
  ),
];

async function edited(members: object): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, ".zarray");
}

async function reported(content: Record<string, unknown>): Promise<unknown[]> {
  return (await all(validate(await nodeIn(content)))).map(({ pointer }) => pointer);
}

export const documentRows: readonly Row[] = [...refusals, ...readings, ...types, ...elements, ...documents];

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
    return row("V2-40", `${words(dtype)} with the fill value ${words(fill_value)}`, expected, act);
  }),
  row("V2-40", "the example is written", partly({ fill_value: "bWlzc2luZw==" }), async () =>
    jsonAt(await made("", { dataType: "|S12", fillValue: "missing" }), ".zarray"),
  ),
];
