import { describe, expect, it } from "vitest";
import type { DataType } from "../../../src/meta/data-type.ts";
import { parseFillV1, writeFillV1 } from "../../../src/meta/v1/fill-value.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { failure, hex, json } from "../helpers.ts";

const typed = (numpy: string): DataType => parseNumpyType(json(numpy), "").dataType;

const STRUCT = '[["x","<f4"],["n","<i2"]]';
const WITH_TEXT = '[["x","<f4"],["deep",[["s","|S3"]]]]';

describe("fill values that v1 holds", () => {
  it.each([
    ['"<i4"', "42", "2a000000"],
    ['"<i8"', "-9223372036854775808", "0000000000000080"],
    ['"<u8"', "18446744073709551615", "ffffffffffffffff"],
    ['"<f8"', "1.5", "000000000000f83f"],
    ['"<f4"', "NaN", "0000c07f"],
    ['"<f4"', "-Infinity", "000080ff"],
    ['"|b1"', "true", "01"],
    ['"<c8"', "0.0", "0000000000000000"],
    ['"<c8"', "[1.0,-2.5]", "0000803f000020c0"],
    ['"<c8"', "[NaN,Infinity]", "0000c07f0000807f"],
    ['"<M8[s]"', "-9223372036854775808", "0000000000000080"],
    ['"<U2"', '"a\u00e9"', "61000000e9000000"],
    ['"|S3"', '""', "000000"],
    ['"|V2"', "0", "0000"],
    [STRUCT, "0", "000000000000"],
    [WITH_TEXT, '""', "00000000000000"],
  ])("of %s: %s", (numpy, text, bytes) => {
    const dataType = typed(numpy);
    const read = parseFillV1(json(text), dataType, "little", "");
    expect(hex(read)).toBe(bytes);
    expect(writeJson(writeFillV1(read, dataType) ?? null, { nonFinite: "token" })).toBe(text);
  });

  it("is undefined for null", () => {
    expect(parseFillV1(null, typed('"<c8"'), "little", "")).toBeNull();
    expect(writeFillV1(null, typed('"<c8"'))).toBeNull();
  });

  it.each([
    ['"<f8"', '"NaN"', "000000000000f87f"],
    ['"<f8"', '"-Infinity"', "000000000000f0ff"],
    ['"<i4"', "1.0", "01000000"],
    ['"|b1"', "0", "00"],
    ['"<c8"', "3", "0000404000000000"],
    ['"<c8"', '["NaN", 0]', "0000c07f00000000"],
    ['"|S3"', '"YWI="', "616200"],
    ['"|V2"', '"AQI="', "0102"],
    ['">i4"', "1", "01000000"],
  ])("of %s may be worded as %s", (numpy, text, bytes) => {
    expect(hex(parseFillV1(json(text), typed(numpy), "big", ""))).toBe(bytes);
  });

  it.each([
    ['"<i4"', "1.5"],
    ['"<i4"', "NaN"],
    ['"|u1"', "256"],
    ['"|i1"', "-129"],
    ['"|b1"', "2"],
    ['"<f8"', "true"],
    ['"<c8"', "true"],
    ['"<c8"', "[1, 2, 3]"],
  ])("of %s cannot be %s", (numpy, text) => {
    const error = failure(() => parseFillV1(json(text), typed(numpy), "little", "/fill_value"));
    expect(error.code).toBe("invalid-metadata");
    expect(error.details.pointer).toMatch(/^\/fill_value/);
  });

  it("has no form for bytes and for a NaN that says more than that", () => {
    expect(writeFillV1(Uint8Array.of(97, 0, 0), typed('"|S3"'))).toBeUndefined();
    expect(writeFillV1(Uint8Array.of(0, 1), typed('"|V2"'))).toBeUndefined();
    expect(writeFillV1(Uint8Array.of(0, 0, 0, 0, 1, 0), typed(STRUCT))).toBeUndefined();
    expect(writeFillV1(Uint8Array.of(1, 0, 0xc0, 0x7f), typed('"<f4"'))).toBeUndefined();
    expect(writeFillV1(Uint8Array.of(1, 0, 0xc0, 0x7f, 0, 0, 0, 0), typed('"<c8"'))).toBeUndefined();
  });
});
