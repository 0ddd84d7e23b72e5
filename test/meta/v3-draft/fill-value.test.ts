import { describe, expect, it } from "vitest";
import type { DataType } from "../../../src/meta/data-type.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { parseDraftFill, writeDraftFill } from "../../../src/meta/v3-draft/fill-value.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { failure, hex, json } from "../helpers.ts";

const typeOf = (name: string): DataType => parseNumpyType(name, "").dataType;

describe("fill values", () => {
  it.each([
    ["|b1", "true", "01"],
    ["|b1", "false", "00"],
    ["<i8", "9007199254740993", "0100000000002000"],
    ["<u8", "18446744073709551615", "ffffffffffffffff"],
    ["|i1", "-128", "80"],
    ["<f2", "0.1", "662e"],
    ["<f4", '"NaN"', "0000c07f"],
    ["<f4", "1e39", "0000807f"],
    ["<f8", "-0.0", "0000000000000080"],
    ["<f8", '"-Infinity"', "000000000000f0ff"],
    ["<i4", "null", null],
    ["<c8", '[1.5, "NaN"]', "0000c03f0000c07f"],
    ["<M8[s]", "-2", "feffffffffffffff"],
  ])("of %s: %s", (type, text, bytes) => {
    const dataType = typeOf(type);
    const parsed = parseDraftFill(json(text), dataType, "/fill_value");
    expect(hex(parsed)).toBe(bytes);
    const written = writeDraftFill(parsed, dataType);
    expect(written).toBeDefined();
    expect(hex(parseDraftFill(written as JsonValue, dataType, "/fill_value"))).toBe(bytes);
  });

  it.each([
    ["|b1", "1"],
    ["|b1", '"true"'],
    ["<i4", "1.0"],
    ["<i4", "1.5"],
    ["<i4", "1e2"],
    ["<i4", '"0"'],
    ["|i1", "128"],
    ["|u1", "-1"],
    ["<u8", "18446744073709551616"],
    ["<f4", '"nan"'],
    ["<f4", '"0x7fc00001"'],
    ["<f4", "true"],
    ["|S2", '""'],
    ["<c8", "[0]"],
  ])("of %s cannot be %s", (type, text) => {
    expect(failure(() => parseDraftFill(json(text), typeOf(type), "/fill_value"))).toMatchObject({
      code: "invalid-metadata",
      details: { pointer: "/fill_value" },
    });
  });

  it("have no words for a NaN with a payload, nor for types beyond the core", () => {
    expect(writeDraftFill(Uint8Array.of(1, 0, 0xc0, 0x7f), typeOf("<f4"))).toBeUndefined();
    expect(writeDraftFill(Uint8Array.of(1, 0, 0xc0, 0x7f, 0, 0, 0, 0), typeOf("<c8"))).toBeUndefined();
    expect(writeDraftFill(new Uint8Array(2), typeOf("|S2"))).toBeUndefined();
    expect(writeDraftFill(new Uint8Array(8).fill(255), typeOf("<M8[ns]"))).toBe(-1);
  });
});
