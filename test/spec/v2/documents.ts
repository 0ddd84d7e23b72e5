import { expect } from "vitest";
import { open, setAttributes, validate } from "../../../src/index.ts";
import { all } from "../../support/consume.ts";
import { type Row, refused } from "../rows.ts";
import {
  codecsIn,
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
).map(([id, members, expected]): Row => [id, words(members), () => opens(array(members)), expected]);

const readings = (
  [
    ["V2-10", { filters: undefined }],
    ["V2-11", { shape: [0, 6], chunks: [0, 3] }],
    ["V2-11", { chunks: [100, 3] }],
    ["V2-11", { shape: [], chunks: [] }],
    ["V2-13", { more: 1 }],
    ["V2-14", { filters: [] }],
  ] as [string, object][]
).map(([id, members]): Row => [id, `${words(members)} is taken`, () => opens(array(members)), "array"]);

const types = (
  [
    ["V2-20", "<S3", { kind: "fixed-bytes", size: 3 }],
    ["V2-20", ">u1", { kind: "uint", size: 1 }],
    ["V2-20", "<U3", { kind: "fixed-text", size: 12 }],
    ["V2-21", "<M8[25s]", { kind: "datetime", size: 8, unit: "s", scale: 25 }],
    ["V2-21", "<m8[μs]", { kind: "timedelta", size: 8, unit: "us", scale: 1 }],
  ] as const
).map(
  ([id, dtype, expected]): Row => [id, dtype, () => typeIn(array({ dtype, fill_value: null })), expected],
);

const elements: Row[] = [
  [
    "V2-20",
    "any byte but 0 is true",
    () => valuesIn(bytes(3, { dtype: "|b1", fill_value: false }, hex("0001ff"))),
    [0, 1, 1],
  ],
  [
    "V2-20",
    "zeros at the end are padding",
    () => valuesIn(bytes(2, { dtype: "|S3", fill_value: null }, hex("610000 006200"))),
    [hex("61"), hex("0062")],
  ],
  [
    "V2-20",
    "text in big-endian",
    () => valuesIn(bytes(1, { dtype: ">U2", fill_value: null }, hex("00000061 0001f600"))),
    ["a\u{1f600}"],
  ],
  [
    "V2-23",
    "padding is hidden",
    () =>
      valuesIn(
        bytes(
          1,
          {
            dtype: [
              ["a", "|u1"],
              ["", "|V2"],
              ["b", "|u1"],
            ],
            fill_value: null,
          },
          hex("01020304"),
        ),
      ),
    [{ a: 1, b: 4 }],
  ],
  [
    "V2-24",
    "byte orders by field",
    () =>
      valuesIn(
        bytes(
          1,
          {
            dtype: [
              ["a", ">i2"],
              ["b", "<i2"],
            ],
            fill_value: null,
          },
          hex("0001 0200"),
        ),
      ),
    [{ a: 1, b: 2 }],
  ],
];

const documents: Row[] = [
  [
    "V2-14",
    "an empty list is null",
    () => codecsIn(array({ filters: [] })),
    [["bytes", { endian: "little" }]],
  ],
  [
    "V2-14",
    "null is written",
    async () => jsonAt(await made(""), ".zarray"),
    expect.objectContaining({ filters: null, compressor: null }),
  ],
  [
    "V2-12",
    "a period is not written",
    async () => "dimension_separator" in (await jsonAt(await made(""), ".zarray")),
    false,
  ],
  [
    "V2-12",
    "a slash is",
    async () => (await jsonAt(await made("", { separator: "/" }), ".zarray")).dimension_separator,
    "/",
  ],
  ["V2-13", "other names are kept by an edit", async () => (await edited({ more: 1 })).more, 1],
  [
    "V2-16",
    "ASCII, sorted, without a final newline",
    async () => textAt(await made("", { attributes: { b: "é", a: [] } }), ".zattrs"),
    '{\n    "a": [],\n    "b": "\\u00e9"\n}',
  ],
  [
    "V2-25",
    "creation of no bytes",
    () => made("", { dataType: "|S0" }),
    refused("unsupported-data-type", {}),
  ],
  [
    "V2-73",
    "no zarr_format",
    () => nodeIn(group({ zarr_format: undefined })),
    refused("invalid-metadata", { pointer: "/zarr_format", key: ".zgroup" }),
  ],
  [
    "V2-73",
    "another one",
    () => nodeIn(group({ zarr_format: 3 })),
    refused("unsupported-format", { pointer: "/zarr_format", key: ".zgroup" }),
  ],
  [
    "V2-73",
    "a string",
    () => nodeIn(group({ zarr_format: "2" })),
    refused("invalid-metadata", { pointer: "/zarr_format", key: ".zgroup" }),
  ],
  ["V2-73", "other names are ignored", () => opens(group({ more: 1 })), "group"],
  ["V2-73", "and reported", () => reported({ ".zgroup": { ...ZGROUP, more: 1 } }), ["/more"]],
  [
    "V2-77",
    "a list",
    () => nodeIn(array({}, { ".zattrs": [] })),
    refused("invalid-metadata", { key: ".zattrs" }),
  ],
  [
    "V2-77",
    "null",
    () => nodeIn(array({}, { ".zattrs": "null" })),
    refused("invalid-metadata", { key: ".zattrs" }),
  ],
  [
    "V2-77",
    "a number, of a group",
    () => nodeIn(group({}, { ".zattrs": 3 })),
    refused("invalid-metadata", { key: ".zattrs" }),
  ],
  [
    "V2-77",
    "bare tokens",
    async () => (await nodeIn(group({}, { ".zattrs": '{"a": [NaN, {"b": -Infinity}]}' }))).attributes,
    { a: [Number.NaN, { b: Number.NEGATIVE_INFINITY }] },
  ],
  [
    "V2-78",
    "another consolidated format",
    () => nodeIn({ ".zmetadata": { zarr_consolidated_format: 2, metadata: {} } }),
    refused("unsupported-format", "/zarr_consolidated_format"),
  ],
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
