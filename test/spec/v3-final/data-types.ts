import { type Row, refused } from "../rows.ts";
import { fillIn, findingsIn, hex, jsonAt, nodeIn, token, words } from "../stores.ts";
import { BIG, bytes, invalid, LITTLE, made } from "./kit.ts";

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
    return [id, `${words(data_type)} with the fill value ${words(fill_value)}`, act, expected];
  }),
  ["V3-22", "a payload is written in hexadecimal", () => written(hex("0100c07f")), "0x7fc00001"],
  ["V3-22", "and a sign", () => written(hex("0000c0ff")), "0xffc00000"],
  ["V3-22", "the canonical NaN is not", () => written(hex("0000c07f")), "NaN"],
  [
    "V3-25",
    "an order that is not stated is little-endian, as GDAL writes text",
    () => findingsIn(bytes(1, { data_type: text(4), fill_value: "" })),
    [NO_ORDER],
  ],
  [
    "V3-26",
    "an order is needed",
    () => nodeIn(bytes(1, { data_type: struct(field("a", "int16")), fill_value: { a: 1 } })),
    invalid(NO_ORDER),
  ],
  ["V3-26", "the old form may leave it out", () => findingsIn(bytes(1, OLD)), [NO_ORDER]],
  ["V3-26", "the old form's fill value has it", () => fillIn(bytes(1, { ...OLD, codecs: [BIG] })), { a: 1 }],
];
