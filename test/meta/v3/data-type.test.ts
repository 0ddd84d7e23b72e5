import { describe, expect, it } from "vitest";
import { parseV3DataType, writeV3DataType } from "../../../src/meta/v3/data-type.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { failure } from "../helpers.ts";

const parse = (type: unknown) => parseV3DataType(type as JsonValue, "/data_type");
const named = (name: string, configuration: object) => ({ name, configuration });

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

  it("recognises the types of ZEP 7 by their offsets", () => {
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

  it.each([
    ["int24", "unsupported-data-type", "/data_type"],
    ["r7", "unsupported-data-type", "/data_type"],
    ["r0", "unsupported-data-type", "/data_type"],
    ["constructor", "unsupported-data-type", "/data_type"],
    [{ name: "strings" }, "unsupported-data-type", "/data_type"],
    [{ name: "string", configuration: { x: 1 } }, "unsupported-data-type", "/data_type"],
    [{ name: "binary", fallback: "binary" }, "unsupported-data-type", "/data_type"],
    [named("int32", { bits: 1 }), "unsupported-extension", "/data_type/configuration/bits"],
    [{ name: "int32", extra: 1 }, "unsupported-extension", "/data_type/extra"],
    [3, "invalid-metadata", "/data_type"],
    [{}, "invalid-metadata", "/data_type/name"],
    [{ name: "int32", must_understand: "no" }, "invalid-metadata", "/data_type/must_understand"],
    [named("numpy.datetime64", { unit: "s" }), "invalid-metadata", "/data_type/configuration/scale_factor"],
    [named("numpy.datetime64", { scale_factor: 1 }), "invalid-metadata", "/data_type/configuration/unit"],
    [
      named("numpy.datetime64", { unit: "fortnight", scale_factor: 1 }),
      "invalid-metadata",
      "/data_type/configuration/unit",
    ],
    [
      named("numpy.datetime64", { unit: "s", scale_factor: 2 ** 31 }),
      "invalid-metadata",
      "/data_type/configuration/scale_factor",
    ],
    [
      named("numpy.datetime64", { unit: "s", scale_factor: 1, zone: "UTC" }),
      "unsupported-extension",
      "/data_type/configuration/zone",
    ],
    [
      named("fixed_length_utf32", { length_bytes: 6 }),
      "invalid-metadata",
      "/data_type/configuration/length_bytes",
    ],
    [named("raw_bytes", { length_bytes: 0 }), "invalid-metadata", "/data_type/configuration/length_bytes"],
    [named("raw_bytes", {}), "invalid-metadata", "/data_type/configuration/length_bytes"],
    [
      named("raw_bytes", { length_bytes: 2 ** 40 }),
      "resource-limit",
      "/data_type/configuration/length_bytes",
    ],
    ["r17179869184", "resource-limit", "/data_type"],
    [named("struct", { fields: [] }), "invalid-metadata", "/data_type/configuration/fields"],
    [named("struct", {}), "invalid-metadata", "/data_type/configuration/fields"],
    [
      named("struct", {
        fields: [
          ["a", "int8"],
          ["a", "int8"],
        ],
      }),
      "invalid-metadata",
      "/data_type/configuration/fields",
    ],
    [
      named("struct", { fields: [{ name: "", data_type: "int8" }] }),
      "invalid-metadata",
      "/data_type/configuration/fields/0/name",
    ],
    [
      named("struct", { fields: [["a", "int8", 1]] }),
      "invalid-metadata",
      "/data_type/configuration/fields/0",
    ],
    [
      named("struct", { fields: [["a", "string"]] }),
      "unsupported-data-type",
      "/data_type/configuration/fields/0/1",
    ],
  ])("refuses %j", (type, code, pointer) => {
    expect(failure(() => parse(type))).toMatchObject({ code, details: { pointer } });
  });

  it("passes over members that say they may be ignored", () => {
    expect(parse({ name: "int32", note: { must_understand: false } }).dataType).toEqual({
      kind: "int",
      size: 4,
    });
  });
});
