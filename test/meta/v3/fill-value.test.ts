import { describe, expect, it } from "vitest";
import { parseV3DataType } from "../../../src/meta/v3/data-type.ts";
import { parseFillV3, writeFillV3 } from "../../../src/meta/v3/fill-value.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { failure, hex, json } from "../helpers.ts";

const STRUCT = JSON.stringify({
  name: "struct",
  configuration: {
    fields: [
      { name: "a", data_type: "int32" },
      { name: "b", data_type: "float64" },
      { name: "s", data_type: { name: "null_terminated_bytes", configuration: { length_bytes: 3 } } },
    ],
  },
});
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
    ["float16", "65519.99", "ff7b"],
    [TIME, "-9223372036854775808", "0000000000000080"],
    ["r24", "[1, 2, 255]", "0102ff"],
    ["bytes", "[0, 255]", "00ff"],
    ["bytes", "[]", ""],
    [STRUCT, '"BwAAAAAAAAAAAPi/eHkA"', "07000000000000000000f8bf787900"],
  ])("%s takes %s too, as %s", (type, text, expected) => {
    expect(hex(parse(type, text))).toBe(expected);
  });

  it("reads the old form of structures in the byte order of the array", () => {
    expect(hex(parse(STRUCT, '"AAAAB7/4AAAAAAAAeHkA"', "big"))).toBe("07000000000000000000f8bf787900");
  });

  it.each([
    ["bool", "1", ""],
    ["bool", "null", ""],
    ["int32", "null", ""],
    ["int32", "1.0", ""],
    ["int32", "1e2", ""],
    ["uint8", "300", ""],
    ["uint8", "-1", ""],
    ["int32", '"0x00000001"', ""],
    ["uint64", "18446744073709551616", ""],
    ["float32", '"0x7fc0"', ""],
    ["float32", '"0xzzzzzzzz"', ""],
    ["float32", "null", ""],
    ["float32", "true", ""],
    ["complex64", "[1]", ""],
    ["complex64", '[1, "x"]', "/1"],
    [TIME, "1.0", ""],
    [TIME, '"2020"', ""],
    [TEXT, '"abc"', ""],
    [TEXT, "0", ""],
    ["r24", "[1, 2]", ""],
    ["r24", "[1, 2, 256]", "/2"],
    ["r24", "[1, 2, -1]", "/2"],
    [RAW, '"AAA="', ""],
    [SHORT, '"AAAAAA=="', ""],
    ["string", "null", ""],
    ["string", "0", ""],
    ["bytes", '"*"', ""],
    [STRUCT, '{"a": 7, "b": 1}', "/s"],
    [STRUCT, '{"a": 7, "b": 1, "s": "", "t": 0}', "/t"],
    [STRUCT, '{"a": 7.5, "b": 1, "s": ""}', "/a"],
    [STRUCT, '"AAAA"', ""],
  ])("%s refuses %s", (type, text, pointer) => {
    expect(failure(() => parse(type, text))).toMatchObject({
      code: "invalid-metadata",
      details: { pointer: `/fill_value${pointer}` },
    });
  });

  it("has no form for text that is not Unicode, in structures too", () => {
    const text = { kind: "fixed-text", size: 4 } as const;
    const bytes = Uint8Array.of(0, 0, 0x11, 0);
    expect(writeFillV3(bytes, text)).toBeUndefined();
    const struct = { kind: "struct", size: 4, fields: [{ name: "t", dataType: text }] } as const;
    expect(writeFillV3(bytes, struct)).toBeUndefined();
  });
});
