import { expect } from "vitest";
import { open, setAttributes } from "../../../src/index.ts";
import { type Row, refused, row } from "../rows.ts";
import {
  chunkKeyIn,
  fillIn,
  findingsIn,
  hex,
  jsonAt,
  nodeIn,
  opens,
  storeOf,
  token,
  valuesIn,
  words,
} from "../stores.ts";
import { ARRAY, array, BIG, bytes, chunkShape, group, invalid, LITTLE, made } from "./kit.ts";

const grid = (members: object, configuration: object = {}) => ({
  chunk_grid: { name: "regular", configuration: { chunk_shape: [2, 3], ...configuration }, ...members },
});
const keyed = (name: string, separator?: unknown) => ({
  chunk_key_encoding: { name, ...(separator !== undefined && { configuration: { separator } }) },
});
const extended = (...path: string[]) => refused("unsupported-extension", `/${path.join("/")}`);
const ignorable = { must_understand: false };

const arrays = (
  [
    ...Object.keys(ARRAY).map((name) => ["V3-10", { [name]: undefined }, invalid(`/${name}`)]),
    ["V3-10", { zarr_format: "3" }, invalid("/zarr_format")],
    ["V3-10", { zarr_format: 4 }, refused("unsupported-format", { pointer: "/zarr_format", value: "4" })],
    ["V3-12", { more: 1 }, extended("more")],
    ["V3-12", { more: { must_understand: true } }, extended("more")],
    ["V3-12", { more: {} }, extended("more")],
    ["V3-12", { more: ignorable }, "array"],
    [
      "V3-13",
      { data_type: { name: "nosuch", ...ignorable } },
      refused("unsupported-data-type", "/data_type"),
    ],
    ["V3-13", { data_type: { name: "int32", ...ignorable } }, "array"],
    ["V3-13", { data_type: "Int32" }, refused("unsupported-data-type", "/data_type")],
    ["V3-13", { data_type: { name: "int32", configuration: {} } }, "array"],
    ["V3-13", { data_type: {} }, invalid("/data_type/name")],
    ["V3-13", { data_type: { name: "int32", configuration: null } }, invalid("/data_type/configuration")],
    ["V3-13", { data_type: { name: "int32", must_understand: "no" } }, invalid("/data_type/must_understand")],
    ["V3-13", { data_type: { name: "int32", must_understand: null } }, invalid("/data_type/must_understand")],
    [
      "V3-13",
      { data_type: { name: "int32", configuration: { a: 1 } } },
      extended("data_type", "configuration", "a"),
    ],
    ["V3-13", { chunk_grid: { name: "nosuch", ...ignorable } }, extended("chunk_grid")],
    ["V3-13", grid({}, { a: 1 }), extended("chunk_grid", "configuration", "a")],
    ["V3-13", grid({ a: 1 }), extended("chunk_grid", "a")],
    ["V3-13", grid({}, { a: ignorable }), "array"],
    ["V3-13", { chunk_key_encoding: { name: "nosuch", ...ignorable } }, extended("chunk_key_encoding")],
    [
      "V3-13",
      { chunk_key_encoding: { name: "default", configuration: { a: 1 } } },
      extended("chunk_key_encoding", "configuration", "a"),
    ],
    ["V3-15", { storage_transformers: ["cache"] }, extended("storage_transformers", "0")],
    ["V3-15", { storage_transformers: [{ name: "cache", ...ignorable }] }, "array"],
    ["V3-15", { storage_transformers: {} }, invalid("/storage_transformers")],
    ["V3-15", { storage_transformers: null }, invalid("/storage_transformers")],
    ["V3-16", { dimension_names: ["x"] }, invalid("/dimension_names")],
    ["V3-16", { dimension_names: ["x", 1] }, invalid("/dimension_names/1")],
    ["V3-16", { dimension_names: null }, "array"],
    ["V3-16", { dimension_names: ["", ""] }, "array"],
    ["V3-17", { attributes: [] }, invalid("/attributes")],
    ["V3-17", { attributes: null }, invalid("/attributes")],
    ["V3-18", { shape: [4, -6] }, invalid("/shape/1")],
    ["V3-18", { shape: [4, 6.5] }, invalid("/shape/1")],
    ["V3-18", { shape: [4, token("6.0")] }, invalid("/shape/1")],
    ["V3-18", { node_type: "dataset" }, invalid("/node_type")],
    ["V3-18", { shape: [], ...chunkShape() }, "array"],
    ["V3-30", chunkShape(2), invalid("/chunk_grid/configuration/chunk_shape")],
    ["V3-30", chunkShape(2, 0), invalid("/chunk_grid/configuration/chunk_shape/1")],
    ["V3-30", { shape: [4, 0], ...chunkShape(2, 0) }, "array"],
    ["V3-30", { chunk_grid: "regular" }, invalid("/chunk_grid/configuration/chunk_shape")],
    ["V3-30", { chunk_grid: { name: "rectilinear" } }, extended("chunk_grid")],
    ["V3-31", keyed("default", "-"), invalid("/chunk_key_encoding/configuration/separator")],
    ["V3-31", keyed("default", null), invalid("/chunk_key_encoding/configuration/separator")],
    ["V3-31", keyed("fanout"), extended("chunk_key_encoding")],
  ] as [string, object, unknown][]
).map(([id, members, expected]) => row(id, words(members), expected, () => opens(array(members))));

const groups = (
  [
    ["V3-11", {}, "group"],
    ["V3-11", { zarr_format: undefined }, invalid("/zarr_format")],
    ["V3-11", { consolidated_metadata: null }, "group"],
    ["V3-12", { more: {} }, extended("more")],
    ["V3-12", { more: ignorable }, "group"],
    ["V3-17", { attributes: 3 }, invalid("/attributes")],
    ["V3-19", { consolidated_metadata: { kind: "external", ...ignorable } }, "group"],
  ] as [string, object, unknown][]
).map(([id, members, expected]) =>
  row(id, `a group with ${words(members)}`, expected, () => opens(group(members))),
);

const keys = (
  [
    ["default", undefined, "c/1/23"],
    ["default", ".", "c.1.23"],
    ["v2", undefined, "1.23"],
    ["v2", "/", "1/23"],
  ] as const
).map(([name, separator, key]) =>
  row("V3-31", key, key, () => chunkKeyIn(array(keyed(name, separator)), 1, 23)),
);

const SKIPPED = { codecs: ["bytes", { name: "nosuch", ...ignorable }] };
const scalar = (name: string) => array({ shape: [], ...chunkShape(), ...keyed(name) });
const unreadable = refused("unsupported-codec", {
  pointer: "/codecs/1",
  codec: "nosuch",
  key: "c/0",
  coords: [0],
});

async function edited(members: object): Promise<Record<string, unknown>> {
  const store = await storeOf(array(members));
  await setAttributes(await open(store), { a: 1 });
  return jsonAt(store, "zarr.json");
}

const TYPE_AND_CODECS = expect.objectContaining({ data_type: "uint8", codecs: [{ name: "bytes" }] });

const documents: Row[] = [
  row("V3-13", "an unknown member of a codec is a finding", ["/codecs/0"], () =>
    findingsIn(array({ codecs: [{ ...LITTLE, note: 1 }] })),
  ),
  row("V3-13", "and kept", expect.objectContaining({ codecs: [{ ...LITTLE, note: 1 }] }), () =>
    edited({ codecs: [{ ...LITTLE, note: 1 }] }),
  ),
  row("V3-13", "a codec is skipped where all chunks are missing", [7, 7], () =>
    valuesIn(bytes(2, { ...SKIPPED, fill_value: 7 })),
  ),
  row("V3-13", "and nowhere else", unreadable, bytes(2, SKIPPED, "0102")),
  row("V3-14", "types as strings, the rest as objects", TYPE_AND_CODECS, async () =>
    jsonAt(await made(""), "zarr.json"),
  ),
  row("V3-15", "transformers that may be ignored are findings", ["/storage_transformers/0"], () =>
    findingsIn(array({ storage_transformers: [{ name: "cache", ...ignorable }] })),
  ),
  row("V3-15", "but nothing is written", refused("unsupported-operation", "/storage_transformers"), () =>
    edited({ storage_transformers: [{ name: "cache", ...ignorable }] }),
  ),
  row("V3-19", "another kind is a finding", ["/consolidated_metadata/kind"], () =>
    findingsIn(group({ consolidated_metadata: { kind: "external", ...ignorable } })),
  ),
  row("V3-31", "a scalar", "c", () => chunkKeyIn(scalar("default"))),
  row("V3-31", "a scalar of v2", "0", () => chunkKeyIn(scalar("v2"))),
  row("V3-17", "attributes may be absent", {}, async () => (await nodeIn(array())).attributes),
];

export const documentRows: readonly Row[] = [...arrays, ...groups, ...keys, ...documents];

const INVALID = invalid("/fill_value");
const UNSUPPORTED = refused("unsupported-data-type", "/data_type");
const CONFIGURATION = "/data_type/configuration";
const time = (configuration: object) => ({ name: "numpy.datetime64", configuration });
const text = (length_bytes?: number) => ({ name: "fixed_length_utf32", configuration: { length_bytes } });
const struct = (...fields: unknown[]) => ({ name: "struct", configuration: { fields } });
const field = (name: string, data_type: unknown = "int8") => ({ name, data_type });
const sized = (name: string) => ({ name, configuration: { length_bytes: 3 } });

const table: readonly (readonly [id: string, type: unknown, fill: unknown, expected: unknown])[] = [
  ["V3-20", "float128", 0, UNSUPPORTED],
  ["V3-20", "r7", [0], UNSUPPORTED],
  ["V3-20", "r0", [], UNSUPPORTED],
  ["V3-20", sized("null_terminated_bytes"), "YQ==", hex("61")],
  ["V3-20", sized("raw_bytes"), "YWJj", hex("616263")],
  ["V3-20", "complex_float32", [1, 2], 1],
  ["V3-21", "bool", true, 1],
  ["V3-21", "bool", 0, 0],
  ["V3-21", "bool", "true", INVALID],
  ["V3-21", "int8", -128, -128],
  ...[token("1.0"), token("1e0"), "1"].map((n) => ["V3-21", "int8", n, 1] as const),
  ...[-129, 128, token("1.5"), "x", true, null].map((n) => ["V3-21", "int8", n, INVALID] as const),
  ["V3-21", "uint64", token("18446744073709551615"), 2n ** 64n - 1n],
  ["V3-21", "uint64", token("18446744073709551616"), INVALID],
  ["V3-21", "int64", token("9007199254740993"), 9007199254740993n],
  ["V3-21", "float32", "NaN", Number.NaN],
  ["V3-21", "float32", "-Infinity", Number.NEGATIVE_INFINITY],
  ["V3-21", "float32", token("1e400"), Number.POSITIVE_INFINITY],
  ["V3-21", "float32", token("-1e39"), Number.NEGATIVE_INFINITY],
  ["V3-21", "float32", token("16777217"), 16777216],
  ["V3-21", "float32", "0x3f800000", 1],
  ...["nan", "+Infinity", token("NaN"), "0x7fc0000", "0x7fc000011", "0X3f800000", "3f800000", [1], true].map(
    (fill) => ["V3-21", "float32", fill, INVALID] as const,
  ),
  ["V3-21", "complex64", 1, INVALID],
  ["V3-21", "complex64", [1], INVALID],
  ["V3-21", "complex64", [1, "x"], invalid("/fill_value/1")],
  ["V3-21", "r24", [1, 2, 255], hex("0102ff")],
  ["V3-21", "r24", [1, 2], INVALID],
  ["V3-21", "r24", [1, 2, 256], invalid("/fill_value/2")],
  ["V3-21", "r24", 0, INVALID],
  ["V3-23", "float16", token("65519"), 65504],
  ["V3-23", "float16", token("65520"), Number.POSITIVE_INFINITY],
  ["V3-23", "float16", token("2049"), 2048],
  ["V3-23", "float16", "0x3c00", 1],
  ["V3-24", "numpy.datetime64", 0, invalid(`${CONFIGURATION}/unit`)],
  ["V3-24", time({ unit: "s" }), 0, invalid(`${CONFIGURATION}/scale_factor`)],
  ["V3-24", time({ unit: "s", scale_factor: 0 }), 0, invalid(`${CONFIGURATION}/scale_factor`)],
  ["V3-24", time({ unit: "s", scale_factor: 2 ** 31 }), 0, invalid(`${CONFIGURATION}/scale_factor`)],
  ["V3-24", time({ unit: "q", scale_factor: 1 }), 0, invalid(`${CONFIGURATION}/unit`)],
  [
    "V3-24",
    time({ unit: "s", scale_factor: 1, more: 1 }),
    0,
    refused("unsupported-extension", `${CONFIGURATION}/more`),
  ],
  ["V3-24", time({ unit: "generic", scale_factor: 1 }), "NaT", -(2n ** 63n)],
  ["V3-24", time({ unit: "s", scale_factor: 9 }), token("-9223372036854775808"), -(2n ** 63n)],
  ["V3-24", time({ unit: "s", scale_factor: 9 }), "nat", INVALID],
  ["V3-25", text(8), "\u{1f600}\u{1f600}", "\u{1f600}\u{1f600}"],
  ["V3-25", text(8), "abc", INVALID],
  ["V3-25", text(8), 0, INVALID],
  ...[6, 0, undefined].map((n) => ["V3-25", text(n), "", invalid(`${CONFIGURATION}/length_bytes`)] as const),
  ["V3-26", struct(), {}, invalid(`${CONFIGURATION}/fields`)],
  ["V3-26", struct(field("")), { "": 0 }, invalid(`${CONFIGURATION}/fields/0/name`)],
  ["V3-26", struct(field("a"), field("a")), { a: 0 }, invalid(`${CONFIGURATION}/fields`)],
  [
    "V3-26",
    struct(field("a", "string")),
    { a: "" },
    refused("unsupported-data-type", `${CONFIGURATION}/fields/0/data_type`),
  ],
  ["V3-26", struct(field("a"), field("b")), { a: 1 }, invalid("/fill_value/b")],
  ["V3-26", struct(field("a")), { a: 1, c: 2 }, invalid("/fill_value/c")],
  ["V3-26", struct(field("a")), { a: 300 }, invalid("/fill_value/a")],
  ["V3-26", struct(["a", "int8"], ["b", struct(field("c"))]), "AQI=", { a: 1, b: { c: 2 } }],
  ["V3-26", { ...struct(field("a")), name: "structured" }, { a: 1 }, { a: 1 }],
  ["V3-26", { ...struct(["a", "int8"]), name: "structured" }, "AQI=", INVALID],
];

const OLD = { data_type: { ...struct(["a", "int16"]), name: "structured" }, fill_value: "AAE=" };
const NO_ORDER = "/codecs/0/configuration/endian";
const written = async (fillValue: Uint8Array) =>
  (await jsonAt(await made("", { dataType: "float32", fillValue }), "zarr.json")).fill_value;

export const dataTypeRows: readonly Row[] = [
  ...table.map(([id, data_type, fill_value, expected]): Row => {
    const act = () => fillIn(bytes(1, { data_type, fill_value, codecs: [LITTLE] }));
    return row(id, `${words(data_type)} with the fill value ${words(fill_value)}`, expected, act);
  }),
  row("V3-22", "a payload is written in hexadecimal", "0x7fc00001", () => written(hex("0100c07f"))),
  row("V3-22", "and a sign", "0xffc00000", () => written(hex("0000c0ff"))),
  row("V3-22", "the canonical NaN is not", "NaN", () => written(hex("0000c07f"))),
  row("V3-25", "an order that is not stated is little-endian, as GDAL writes text", [NO_ORDER], () =>
    findingsIn(bytes(1, { data_type: text(4), fill_value: "" })),
  ),
  row("V3-26", "an order is needed", invalid(NO_ORDER), () =>
    nodeIn(bytes(1, { data_type: struct(field("a", "int16")), fill_value: { a: 1 } })),
  ),
  row("V3-26", "the old form may leave it out", [NO_ORDER], () => findingsIn(bytes(1, OLD))),
  row("V3-26", "the old form's fill value has it", { a: 1 }, () =>
    fillIn(bytes(1, { ...OLD, codecs: [BIG] })),
  ),
];
