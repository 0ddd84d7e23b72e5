import { describe, expect, it } from "vitest";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { numpyItemSize, writeNumpyType } from "../../../src/meta/v2/numpy-type.ts";
import type { JsonValue } from "../../../src/util/json-value.ts";
import { failure } from "../helpers.ts";

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
    [
      [
        ["r", "|u1"],
        ["g", "|u1"],
        ["b", "|u1"],
      ],
      3,
    ],
    [
      [
        ["x", "<f4"],
        ["y", "<f4"],
        ["z", "<f4", [2, 2]],
      ],
      24,
    ],
    [
      [
        ["foo", "<f4"],
        [
          "bar",
          [
            ["baz", "<f4"],
            ["qux", "<i4"],
          ],
        ],
      ],
      12,
    ],
  ])("reads the structure %j", (type, size) => {
    const stored = parseNumpyType(type as JsonValue, "/dtype");
    expect(stored.dataType).toMatchObject({ kind: "struct", size });
    expect(writeNumpyType(stored.dataType, stored.endian)).toEqual(type);
  });

  it("lets fields state a byte order only where it is not the common one", () => {
    const big = parseNumpyType(
      [
        ["a", ">i2"],
        [
          "b",
          [
            ["c", ">f4"],
            ["d", "|u1"],
          ],
        ],
      ],
      "/dtype",
    );
    expect(big.endian).toBe("big");
    expect(JSON.stringify(big.dataType)).not.toContain("endian");
    const type = [
      ["a", ">i2"],
      ["b", "<u4"],
      [
        "c",
        [
          ["d", ">f4"],
          ["e", ">f4"],
        ],
      ],
      ["f", "|u1"],
    ];
    const mixed = parseNumpyType(type, "/dtype");
    expect(mixed).toMatchObject({
      endian: "little",
      dataType: {
        fields: [{ name: "a", endian: "big" }, { name: "b" }, { name: "c", endian: "big" }, { name: "f" }],
      },
    });
    expect(writeNumpyType(mixed.dataType, mixed.endian)).toEqual(type);
  });

  it("keeps padding, and takes a bare number as the shape of a sub-array", () => {
    const { dataType } = parseNumpyType(
      [
        ["a", "|u1"],
        ["", "|V3"],
        ["", "|V1"],
        ["x", "<f4", 2],
      ],
      "/dtype",
    );
    expect(dataType).toMatchObject({ size: 13, fields: [{}, { name: "" }, { name: "" }, { shape: [2] }] });
  });

  it.each([
    "i4",
    "",
    "=i4",
    "<i3",
    "<f1",
    "<f16",
    "<c4",
    "<b2",
    "<z9",
    "|i4",
    "|U3",
    "|M8[ns]",
    "<M8",
    "<M8[]",
    "<M8[q]",
    "<m8[0s]",
    "<m8[2147483648s]",
    "<M4[s]",
    "|S0",
    "<U0",
    "|V0",
    "<O",
    "<i4 ",
    "<f8[s]",
  ])("refuses %j", (text) => {
    expect(failure(() => parseNumpyType(text, "/dtype"))).toMatchObject({
      code: "unsupported-data-type",
      details: { pointer: "/dtype" },
    });
  });

  it.each([
    [[]],
    [[["a"]]],
    [
      [
        ["a", "<i4"],
        ["a", "<i4"],
      ],
    ],
    [[[1, "<i4"]]],
    [[["a", "<i4", [0]]]],
    [[["a", "<i4", [1.5]]]],
    [["<i4"]],
    [3],
    [null],
    [{}],
  ])("calls %j invalid", (type) => {
    expect(failure(() => parseNumpyType(type as JsonValue, "/dtype"))).toMatchObject({
      code: "invalid-metadata",
      details: { pointer: "/dtype" },
    });
  });

  it("refuses objects in structures", () => {
    expect(failure(() => parseNumpyType([["a", "|O"]], "/dtype")).code).toBe("unsupported-data-type");
  });

  it("bounds the size of an element", () => {
    expect(failure(() => parseNumpyType("|S1099511627776", "/dtype")).code).toBe("resource-limit");
    expect(failure(() => parseNumpyType([["a", "<f8", [2 ** 20, 2 ** 20, 2 ** 20]]], "/dtype")).code).toBe(
      "resource-limit",
    );
  });
});

describe("numpyItemSize", () => {
  it("counts characters of text as four bytes", () => {
    expect([">i4", "<U6", "|S3", "<M8[D]"].map(numpyItemSize)).toEqual([4, 24, 3, 8]);
    expect(numpyItemSize("float32")).toBeUndefined();
    expect(numpyItemSize(undefined)).toBeUndefined();
  });
});
