import { describe, expect, it } from "vitest";
import type { DataType } from "../../../src/meta/data-type.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { parseFillV2, writeFillV2 } from "../../../src/meta/v2/fill-value.ts";
import { numpyItemSize, writeNumpyType } from "../../../src/meta/v2/numpy-type.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import { failure, hex, json, refusal } from "../helpers.ts";

describe("parseNumpyType", () => {
  it.each([
    ["|b1", { kind: "bool", size: 1 }, undefined],
    ["|i1", { kind: "int", size: 1 }, undefined],
    ["<i8", { kind: "int", size: 8 }, "little"],
    [">u2", { kind: "uint", size: 2 }, "big"],
    ["<f2", { kind: "float", size: 2 }, "little"],
    [">c16", { kind: "complex", size: 16 }, "big"],
    ["<M8[ns]", { kind: "datetime", size: 8, unit: "ns", scale: 1 }, "little"],
    [">m8[25s]", { kind: "timedelta", size: 8, unit: "s", scale: 25 }, "big"],
    ["|S12", { kind: "fixed-bytes", size: 12 }, undefined],
    ["<U5", { kind: "fixed-text", size: 20 }, "little"],
    ["|V3", { kind: "raw", size: 3 }, undefined],
    ["|O", { kind: "object" }, undefined],
  ])("reads %s, and writes it again", (text, dataType, endian) => {
    const stored = parseNumpyType(text, "/dtype");
    expect(stored).toEqual({ dataType, endian });
    expect(writeNumpyType(stored.dataType, stored.endian)).toBe(text);
  });

  it("reads a mark that means nothing as `|`", () => {
    for (const text of ["<S3", ">b1", "<u1", ">V2"]) {
      const { dataType, endian } = parseNumpyType(text, "/dtype");
      expect(endian).toBeUndefined();
      expect(writeNumpyType(dataType, endian)).toBe(`|${text.slice(1)}`);
    }
  });

  it("reads both letters for micro", () => {
    expect(parseNumpyType("<M8[\u03bcs]", "/dtype").dataType).toMatchObject({ unit: "us" });
    expect(parseNumpyType("<M8[\u00b5s]", "/dtype").dataType).toMatchObject({ unit: "us" });
  });

  // The three examples of V2-22.
  it.each([
    ['[["r", "|u1"], ["g", "|u1"], ["b", "|u1"]]', 3],
    ['[["x", "<f4"], ["y", "<f4"], ["z", "<f4", [2, 2]]]', 24],
    ['[["foo", "<f4"], ["bar", [["baz", "<f4"], ["qux", "<i4"]]]]', 12],
  ])("reads the structure %s", (text, size) => {
    const stored = parseNumpyType(json(text), "/dtype");
    expect(stored.dataType).toMatchObject({ kind: "struct", size });
    expect(writeNumpyType(stored.dataType, stored.endian)).toEqual(json(text));
  });

  it("lets fields state a byte order only where it is not the common one", () => {
    const big = parseNumpyType(json('[["a", ">i2"], ["b", [["c", ">f4"], ["d", "|u1"]]]]'), "/dtype");
    expect(big.endian).toBe("big");
    expect(JSON.stringify(big.dataType)).not.toContain("endian");
    const type = json('[["a", ">i2"], ["b", "<u4"], ["c", [["d", ">f4"], ["e", ">f4"]]], ["f", "|u1"]]');
    const mixed = parseNumpyType(type, "/dtype");
    const fields = [{ name: "a", endian: "big" }, { name: "b" }, { name: "c", endian: "big" }, { name: "f" }];
    expect(mixed).toMatchObject({ endian: "little", dataType: { fields } });
    expect(writeNumpyType(mixed.dataType, mixed.endian)).toEqual(type);
  });

  it("keeps padding, and takes a bare number as the shape of a sub-array", () => {
    const type = json('[["a", "|u1"], ["", "|V3"], ["", "|V1"], ["x", "<f4", 2]]');
    const fields = [{ name: "a" }, { name: "" }, { name: "" }, { shape: [2] }];
    expect(parseNumpyType(type, "/dtype").dataType).toMatchObject({ size: 13, fields });
  });

  // test/spec/v2 has those that the specification names
  it.each("<f1|<c4|<z9|<M8[]|<m8[2147483648s]|<M4[s]|<O|<i4 |<f8[s]".split("|"))("does not know %j", (text) =>
    expect(refusal(() => parseNumpyType(text, "/dtype"))).toBe("unsupported-data-type /dtype"),
  );

  it.each(['[["a", "<i4", [0]]]', '[["a", "<i4", [1.5]]]'])("calls %s invalid", (text) =>
    expect(refusal(() => parseNumpyType(json(text), "/dtype"))).toBe("invalid-metadata /dtype"),
  );

  it("refuses objects in structures, and bounds the size of an element", () => {
    expect(failure(() => parseNumpyType([["a", "|O"]], "/dtype")).code).toBe("unsupported-data-type");
    for (const type of ["|S1099511627776", [["a", "<f8", [2 ** 20, 2 ** 20, 2 ** 20]]]])
      expect(failure(() => parseNumpyType(type, "/dtype")).code).toBe("resource-limit");
  });
});

describe("numpyItemSize", () => {
  it("counts characters of text as four bytes", () => {
    expect([">i4", "<U6", "|S3", "<M8[D]"].map(numpyItemSize)).toEqual([4, 24, 3, 8]);
    expect(numpyItemSize("float32")).toBeUndefined();
    expect(numpyItemSize(undefined)).toBeUndefined();
  });
});

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
  ])("%s takes %s too, as %s", (type, text, expected) => expect(hex(parse(type, json(text)))).toBe(expected));

  it.each([
    ["<i4", '"NaN"', "1e999999999"],
    ["<c8", "[1, 2, 3]"],
    ["<M8[s]", "0.5"],
    ["string", "1", '"\\ud800"'],
    ["binary", '"a"'],
  ])("%s refuses %s ...", (type, ...texts) => {
    for (const text of texts) {
      expect(
        refusal(() => parse(type, json(text))),
        text,
      ).toMatch(/^invalid-metadata \/fill_value/);
    }
  });

  it("takes the number 0 of bytes of varying length for none: readers give it as it is", () => {
    expect(parse("binary", json("0"))).toBeNull();
  });

  it("has no form for NaN payloads and for text that is not Unicode", () => {
    expect(write("<f4", Uint8Array.of(1, 0, 0xc0, 0x7f))).toBeUndefined();
    expect(write("<f4", Uint8Array.of(0, 0, 0xc0, 0xff))).toBeUndefined();
    expect(write("<c8", Uint8Array.of(0, 0, 0, 0, 1, 0, 0xc0, 0x7f))).toBeUndefined();
    expect(write("<U1", Uint8Array.of(0, 0, 0x11, 0))).toBeUndefined();
  });
});
