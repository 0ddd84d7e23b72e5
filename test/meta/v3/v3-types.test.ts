import { describe, expect, it } from "vitest";
import { parseV3DataType, writeV3DataType } from "../../../src/meta/v3/data-type.ts";
import { parseFillV3, writeFillV3 } from "../../../src/meta/v3/fill-value.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { hex, json, named, refusal } from "../helpers.ts";

describe("data types of v3", () => {
  const parse = (type: unknown) => parseV3DataType(type as JsonValue, "/data_type");

  describe("parseV3DataType", () => {
    it.each([
      ["bool", { kind: "bool", size: 1 }],
      ["int8", { kind: "int", size: 1 }],
      ["int64", { kind: "int", size: 8 }],
      ["uint16", { kind: "uint", size: 2 }],
      ["float16", { kind: "float", size: 2 }],
      ["float64", { kind: "float", size: 8 }],
      ["complex64", { kind: "complex", size: 8 }],
      ["complex128", { kind: "complex", size: 16 }],
      [
        named("numpy.datetime64", { unit: "ns", scale_factor: 1 }),
        { kind: "datetime", size: 8, unit: "ns", scale: 1 },
      ],
      [
        named("numpy.timedelta64", { unit: "generic", scale_factor: 10 }),
        { kind: "timedelta", size: 8, unit: "generic", scale: 10 },
      ],
      [named("fixed_length_utf32", { length_bytes: 20 }), { kind: "fixed-text", size: 20 }],
      [named("null_terminated_bytes", { length_bytes: 7 }), { kind: "fixed-bytes", size: 7 }],
      [named("raw_bytes", { length_bytes: 3 }), { kind: "raw", size: 3 }],
      ["string", { kind: "string" }],
      ["bytes", { kind: "binary" }],
    ])("reads %j, and writes it again", (type, dataType) => {
      expect(parse(type).dataType).toEqual(dataType);
      expect(writeV3DataType(parse(type).dataType)).toEqual(type);
    });

    it("reads other spellings", () => {
      expect(parse({ name: "int32" }).dataType).toEqual({ kind: "int", size: 4 });
      expect(parse({ name: "int32", configuration: {}, must_understand: false }).dataType).toEqual(
        parse("int32").dataType,
      );
      expect(parse("r24").dataType).toEqual({ kind: "raw", size: 3 });
      expect(parse("complex_float32").dataType).toEqual({ kind: "complex", size: 8 });
      expect(parse("variable_length_bytes")).toEqual({ dataType: { kind: "binary" }, offsetSize: "none" });
    });

    it("recognizes the types of ZEP 7 by their offsets", () => {
      expect(parse({ name: "string", fallback: "binary" }).offsetSize).toBe(4);
      for (const name of ["LargeString", "large_string"]) {
        expect(parse(name)).toEqual({ dataType: { kind: "string" }, offsetSize: 8 });
      }
      expect(parse({ name: "LargeBinary", must_understand: true })).toEqual({
        dataType: { kind: "binary" },
        offsetSize: 8,
      });
      const kinds = ["string", "binary"] as const;
      expect(kinds.map((kind) => [writeV3DataType({ kind }, 4), writeV3DataType({ kind }, 8)])).toEqual([
        [{ name: "string" }, { name: "LargeString" }],
        [{ name: "binary" }, { name: "LargeBinary" }],
      ]);
    });

    it("reads structures in both forms under both names, and writes the new one", () => {
      const fields = [
        { name: "a", data_type: "int32" },
        { name: "p", data_type: named("struct", { fields: [{ name: "x", data_type: "float32" }] }) },
      ];
      const pairs = [
        ["a", "int32"],
        ["p", named("structured", { fields: [["x", "float32"]] })],
      ];
      for (const name of ["struct", "structured"]) {
        const now = parse(named(name, { fields }));
        const old = parse(named(name, { fields: pairs }));
        expect(now.dataType).toMatchObject({ kind: "struct", size: 8 });
        expect([now.oldStruct, old.oldStruct]).toEqual([false, true]);
        expect(old.dataType).toEqual(now.dataType);
        expect(writeV3DataType(old.dataType)).toEqual(named("struct", { fields }));
      }
    });

    const struct = (...fields: unknown[]) => named("struct", { fields });
    it.each<[string, string, ...unknown[]]>([
      ["unsupported-data-type", "", "int24", "r7", "r0", "constructor", { name: "strings" }],
      ["unsupported-data-type", "", named("string", { x: 1 }), { name: "binary", fallback: "binary" }],
      ["unsupported-extension", "/extra", { name: "int32", extra: 1 }],
      ["invalid-metadata", "", 3],
      ["invalid-metadata", "/configuration/length_bytes", named("raw_bytes", { length_bytes: 0 })],
      ["invalid-metadata", "/configuration/length_bytes", named("raw_bytes", {})],
      ["resource-limit", "/configuration/length_bytes", named("raw_bytes", { length_bytes: 2 ** 40 })],
      ["resource-limit", "", "r17179869184"],
      ["invalid-metadata", "/configuration/fields", struct(), named("struct", {})],
      ["invalid-metadata", "/configuration/fields", struct(["a", "int8"], ["a", "int8"])],
      ["invalid-metadata", "/configuration/fields/0", struct(["a", "int8", 1])],
      ["unsupported-data-type", "/configuration/fields/0/1", struct(["a", "string"])],
    ])("is %s at %j: %j ...", (code, pointer, ...types) => {
      for (const type of types) expect(refusal(() => parse(type))).toBe(`${code} /data_type${pointer}`);
    });

    it("passes over members that say they may be ignored", () => {
      expect(parse({ name: "int32", note: { must_understand: false } }).dataType).toEqual({
        kind: "int",
        size: 4,
      });
    });
  });
});

const STRUCT = JSON.stringify(
  named("struct", {
    fields: [
      { name: "a", data_type: "int32" },
      { name: "b", data_type: "float64" },
      { name: "s", data_type: named("null_terminated_bytes", { length_bytes: 3 }) },
    ],
  }),
);
const TIME = '{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}';
const TEXT = '{"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}';
const RAW = '{"name": "raw_bytes", "configuration": {"length_bytes": 3}}';
const SHORT = '{"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}}';

const typeOf = (type: string) =>
  parseV3DataType(type.startsWith("{") ? json(type) : type, "/data_type").dataType;
const parse = (type: string, fill: string, endian: "little" | "big" = "little") =>
  parseFillV3(json(fill), typeOf(type), endian, "/fill_value");

describe("fill values of v3", () => {
  it.each([
    ["bool", "true", "01"],
    ["int8", "-128", "80"],
    ["uint64", "18446744073709551615", "ffffffffffffffff"],
    ["int64", "-9223372036854775807", "0100000000000080"],
    ["float16", "1.5", "003e"],
    ["float32", '"NaN"', "0000c07f"],
    ["float32", '"0x7fc00001"', "0100c07f"],
    ["float32", '"0xffc00000"', "0000c0ff"],
    ["float64", '"0x7ff8000000000001"', "010000000000f87f"],
    ["float16", '"0x7e01"', "017e"],
    ["float64", '"-Infinity"', "000000000000f0ff"],
    ["float64", "-0.0", "0000000000000080"],
    ["float32", "0.10000000149011612", "cdcccc3d"],
    ["complex64", "[1.0,-2.5]", "0000803f000020c0"],
    ["complex128", '["0x7ff8000000000001",0.0]', "010000000000f87f0000000000000000"],
    [TIME, "-5", "fbffffffffffffff"],
    [TIME, '"NaT"', "0000000000000080"],
    [TEXT, '"\\u00e9\\ud83d\\ude00"', "e900000000f60100"],
    [RAW, '"AQL/"', "0102ff"],
    [SHORT, '"eHk="', "787900"],
    ["string", '"(none) \\u00e9"', "286e6f6e652920c3a9"],
    ["bytes", '"AP8="', "00ff"],
    [STRUCT, '{"a":7,"b":-1.5,"s":"eHk="}', "07000000000000000000f8bf787900"],
  ])("%s %s are the bytes %s, and back", (type, text, expected) => {
    const bytes = parse(type, text);
    expect(hex(bytes)).toBe(expected);
    const written = writeFillV3(bytes, typeOf(type));
    expect(written === undefined ? undefined : writeJson(written, { ascii: true })).toBe(text);
  });

  it.each([
    ["float32", "0.1", "cdcccc3d"],
    ["float32", "1e39", "0000807f"],
    ["float32", '"0x3F800000"', "0000803f"],
    ["float64", "3", "0000000000000840"],
    ["float16", "0.1", "662e"],
    [TIME, "-9223372036854775808", "0000000000000080"],
    ["bytes", "[0, 255]", "00ff"],
    ["bytes", "[]", ""],
    [STRUCT, '"BwAAAAAAAAAAAPi/eHkA"', "07000000000000000000f8bf787900"],
  ])("%s takes %s too, as %s", (type, text, expected) => expect(hex(parse(type, text))).toBe(expected));

  it("reads the old form of structures in the byte order of the array", () => {
    expect(hex(parse(STRUCT, '"AAAAB7/4AAAAAAAAeHkA"', "big"))).toBe("07000000000000000000f8bf787900");
  });

  it.each([
    ["int32", "", "null", "1.0", "1e2", '"0x00000001"'],
    ["float32", "", '"0x7fc0"', '"0xzzzzzzzz"', "null", "true"],
    [TIME, "", "1.0", '"2020"'],
    ["r24", "/2", "[1, 2, -1]"],
    [RAW, "", '"AAA="'],
    [SHORT, "", '"AAAAAA=="'],
    ["string", "", "null", "0"],
    ["bytes", "", '"*"'],
    [STRUCT, "/s", '{"a": 7, "b": 1}'],
    [STRUCT, "/t", '{"a": 7, "b": 1, "s": "", "t": 0}'],
    [STRUCT, "/a", '{"a": 7.5, "b": 1, "s": ""}'],
    [STRUCT, "", '"AAAA"'],
  ])("%s refuses at %j: %s ...", (type, pointer, ...texts) => {
    for (const text of texts)
      expect(
        refusal(() => parse(type, text)),
        text,
      ).toBe(`invalid-metadata /fill_value${pointer}`);
  });

  it("has no form for text that is not Unicode, in structures too", () => {
    const text = { kind: "fixed-text", size: 4 } as const;
    const bytes = Uint8Array.of(0, 0, 0x11, 0);
    expect(writeFillV3(bytes, text)).toBeUndefined();
    const struct = { kind: "struct", size: 4, fields: [{ name: "t", dataType: text }] } as const;
    expect(writeFillV3(bytes, struct)).toBeUndefined();
  });
});
