import { describe, expect, it } from "vitest";
import type { DataType } from "../../../src/meta/data-type.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { parseFillV2, writeFillV2 } from "../../../src/meta/v2/fill-value.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { failure, hex, json } from "../helpers.ts";

const STRUCT = '[["a", "<i4"], ["b", "<f8"], ["s", "|S3"]]';
const MIXED = '[["a", ">i2"], ["b", "<u4"], ["c", ">f4"]]';

function typeOf(type: string): { dataType: DataType; endian: "little" | "big" | undefined } {
  if (type === "string" || type === "binary" || type === "object") {
    return { dataType: { kind: type }, endian: undefined };
  }
  return parseNumpyType(type.startsWith("[") ? json(type) : type, "/dtype");
}

const parse = (type: string, fill: JsonValue) => {
  const { dataType, endian } = typeOf(type);
  return parseFillV2(fill, dataType, endian, "/fill_value");
};

const write = (type: string, bytes: Uint8Array | null) => {
  const { dataType, endian } = typeOf(type);
  const written = writeFillV2(bytes, dataType, endian);
  return written === undefined ? undefined : writeJson(written, { ascii: true });
};

describe("fill values of v2", () => {
  it.each([
    ["<i4", "null", null],
    ["<i4", "42", "2a000000"],
    [">i4", "-1", "ffffffff"],
    ["|u1", "255", "ff"],
    ["<i8", "-9223372036854775808", "0000000000000080"],
    ["<i8", "9007199254740993", "0100000000002000"],
    ["<u8", "18446744073709551615", "ffffffffffffffff"],
    ["<f4", "0.10000000149011612", "cdcccc3d"],
    ["<f8", "0.0", "0000000000000000"],
    ["<f8", "-0.0", "0000000000000080"],
    ["<f8", "3.0", "0000000000000840"],
    ["<f8", "1e+300", "9c7500883ce4377e"],
    [">f8", "9.969209968386869e+36", "0000000000009e47"],
    ["<f2", '"NaN"', "007e"],
    ["<f4", '"NaN"', "0000c07f"],
    ["<f8", '"-Infinity"', "000000000000f0ff"],
    ["|b1", "true", "01"],
    ["<c8", "[1.0,-2.0]", "0000803f000000c0"],
    ["<c16", '["NaN","Infinity"]', "000000000000f87f000000000000f07f"],
    ["<M8[D]", "18321", "9147000000000000"],
    ["<M8[ns]", "-9223372036854775808", "0000000000000080"],
    ["<m8[s]", "-5", "fbffffffffffffff"],
    ["|S12", '"bWlzc2luZw=="', "6d697373696e670000000000"],
    ["|S7", '""', "00000000000000"],
    ["|V3", '"AQID"', "010203"],
    ["<U5", '"h\\u00e9\\ud83d\\ude00"', "68000000e900000000f601000000000000000000"],
    [">U2", '"ab"', "6100000062000000"],
    [STRUCT, '"BwAAAAAAAAAAAPi/eHkA"', "07000000000000000000f8bf787900"],
    [MIXED, '"AAECAAAAP4AAAA=="', "0100020000000000803f"],
    ["string", '"(none)"', "286e6f6e6529"],
    ["string", '"\\ufeffa"', "efbbbf61"],
    ["binary", '"AP8="', "00ff"],
    ["object", '{"a":[1.0,null]}', Buffer.from('{"a":[1.0,null]}').toString("hex")],
  ])("%s %s are the bytes %s, and back", (type, text, expected) => {
    const bytes = parse(type, json(text));
    expect(hex(bytes)).toBe(expected);
    expect(write(type, bytes)).toBe(text);
  });

  it.each([
    ["<i4", "1.0", "01000000"],
    ["<i4", "1e2", "64000000"],
    ["<f8", "3", "0000000000000840"],
    ["<f4", "1e39", "0000807f"],
    ["<f4", "NaN", "0000c07f"],
    ["<c8", "[NaN, -Infinity]", "0000c07f000080ff"],
    ["|b1", "1", "01"],
    ["|b1", "0", "00"],
    ["<M8[ns]", '"NaT"', "0000000000000080"],
    ["|S4", "0", "00000000"],
    ["<U1", "0", "00000000"],
    ["|V2", '""', "0000"],
    [STRUCT, "0", "00".repeat(15)],
    ["binary", '""', ""],
  ])("%s takes %s too, as %s", (type, text, expected) => {
    expect(hex(parse(type, json(text)))).toBe(expected);
  });

  it.each([
    ["<i4", "1.5"],
    ["<i4", "1099511627776"],
    ["|u1", "-1"],
    ["<u8", "18446744073709551616"],
    ["<i4", "NaN"],
    ["<i4", '"NaN"'],
    ["<i4", '"abc"'],
    ["<i4", "true"],
    ["<i4", "1e999999999"],
    ["<f4", '"nan"'],
    ["<f4", "[1]"],
    ["<f4", "true"],
    ["|b1", "2"],
    ["|b1", '"true"'],
    ["<c8", "1"],
    ["<c8", "[1]"],
    ["<c8", "[1, 2, 3]"],
    ["<M8[s]", '"2020-01-01"'],
    ["<M8[s]", "0.5"],
    ["|S4", '"!!!!"'],
    ["|S2", '"AAAA"'],
    ["|S2", "1"],
    ["|V4", '"AAA="'],
    ["<U1", '"ab"'],
    ["<U1", "1"],
    [STRUCT, '"AAAA"'],
    [STRUCT, "{}"],
    ["string", "1"],
    ["string", '"\\ud800"'],
    ["binary", '"a"'],
  ])("%s refuses %s", (type, text) => {
    const error = failure(() => parse(type, json(text)));
    expect(error.code).toBe("invalid-metadata");
    expect(error.details.pointer).toMatch(/^\/fill_value/);
  });

  it("takes the number 0 of bytes of varying length for none: readers give it as it is", () => {
    expect(parse("binary", json("0"))).toBeNull();
  });

  it("names the part of a complex number that is wrong", () => {
    expect(failure(() => parse("<c8", [1, "x"])).details.pointer).toBe("/fill_value/1");
  });

  it("has no form for NaN payloads and for text that is not Unicode", () => {
    expect(write("<f4", Uint8Array.of(1, 0, 0xc0, 0x7f))).toBeUndefined();
    expect(write("<f4", Uint8Array.of(0, 0, 0xc0, 0xff))).toBeUndefined();
    expect(write("<c8", Uint8Array.of(0, 0, 0, 0, 1, 0, 0xc0, 0x7f))).toBeUndefined();
    expect(write("<U1", Uint8Array.of(0, 0, 0x11, 0))).toBeUndefined();
  });
});
