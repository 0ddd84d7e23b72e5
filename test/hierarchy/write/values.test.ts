import { describe, expect, test } from "vitest";
import type { NewArray } from "../../../src/hierarchy/create/metadata.ts";
import { chunkDataOf, countItems, type Values } from "../../../src/hierarchy/write/values.ts";
import { create } from "../../../src/index.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import type { DataTypeText } from "../../../src/meta/data-type-option.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { itemsOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";

/** What `slice` gives back for values written to an array of a data type. */
async function roundTrip(dataType: NewArray["dataType"], values: Values, length: number): Promise<unknown[]> {
  return itemsOf(await given({ shape: [length], dataType, chunks: [2], values }), "");
}

describe("values that come back as they were", () => {
  test.each<[DataTypeText, Values, unknown[]?]>([
    ["bool", Uint8Array.of(1, 0, 1)],
    ["bool", [true, false, true], [1, 0, 1]],
    ["uint8", new Uint8ClampedArray([1, 255, 3])],
    ["int8", Int8Array.of(-1, 2, -3)],
    ["int8", [-128, 0, 127]],
    [">u2", Uint16Array.of(1, 65535, 3)],
    [">u2", Uint8Array.of(1, 0, 255, 255, 3, 0), [1, 65535, 3]],
    ["int64", BigInt64Array.of(-(2n ** 63n), 0n, 1n)],
    ["int64", [-5, 6n, 7], [-5n, 6n, 7n]],
    ["uint64", [2n ** 64n - 1n, 0n, 1n]],
    ["float16", Float32Array.of(0.5, -2, 65504)],
    ["float16", Uint8Array.of(0, 0x3c, 0, 0, 0, 0xbc), [1, 0, -1]],
    ["float16", [0.25, -1, 2]],
    ["float32", [1, 0.5, -3]],
    ["float64", Float64Array.of(Math.PI, -0, Infinity)],
    ["complex64", Float32Array.of(1, 2, 3, 4, 5, 6)],
    ["complex64", [1, 3, 5].map((n) => [n, n + 1]), [1, 2, 3, 4, 5, 6]],
    ["datetime64[s]", [0, 2n ** 40n, -1], [0n, 2n ** 40n, -1n]],
    ["U3", ["höh", "", "abc"]],
    ["S2", [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(3)]],
    ["r16", [Uint8Array.of(1, 2), Uint8Array.of(0, 0), Uint8Array.of(3, 0)]],
    ["string", ["", "ä€😀", "x"]],
    ["binary", [Uint8Array.of(1, 2, 3), Uint8Array.of(), Uint8Array.of(0)]],
  ])("%s %#", async (dataType, values, expected) => {
    expect(await roundTrip(dataType, values, 3)).toEqual(expected ?? [...(values as Iterable<unknown>)]);
  });

  test("structures, with sub-arrays", async () => {
    const type: NewArray["dataType"] = JSON.parse(
      '[["x", "<i2"], ["y", [["z", "<f4"], ["s", "|S2"]]], ["n", "<u2", [2]]]',
    );
    const items = [
      { x: -1, y: { z: 0.5, s: Uint8Array.of(7) }, n: [1, 65535] },
      { x: 2, y: { z: 1, s: Uint8Array.of(1, 2) }, n: [0, 3] },
    ];
    const store = await given({ zarrFormat: "v2", dataType: type, values: items });
    expect(await itemsOf(store, "")).toEqual(items);
  });

  test("with gaps and in any order, by their stride", () => {
    const place = { dataType: { kind: "int", size: 2 }, shape: [2, 2], stride: [2, 4] } as const;
    const data = chunkDataOf(Int16Array.of(1, 9, 2, 9, 3, 9, 4), place);
    expect(data).toMatchObject({ kind: "fixed", strides: [2, 4], itemSize: 2 });
    const text: DataType = { kind: "string" };
    const strings = chunkDataOf(["a", "b", "c", "d"], { dataType: text, shape: [2, 2], stride: [1, 2] });
    expect(strings).toMatchObject({ bytes: new TextEncoder().encode("acbd") });
  });
});

describe("values that are refused", () => {
  test.each<[string, NewArray["dataType"], Values, string]>([
    ["another typed array", "float32", new Float64Array(3), "expected Float32Array, or a Uint8Array"],
    ["signed for unsigned", "uint8", new Int8Array(3), "expected Uint8Array"],
    ["too few", "int16", new Int16Array(2), "expected 3 items for 3, found 2"],
    ["too many", "int16", [1, 2, 3, 4], "found 4"],
    ["bytes of half an item", "int16", new Uint8Array(5), "found 2.5"],
    ["an integer out of range", "int8", [1, 128, 0], "value 1"],
    ["a fraction", "int32", [0.5, 0, 0], "value 0"],
    ["a negative one", "uint64", [0n, 0n, -1n], "value 2"],
    ["NaN for an integer", "int64", [Number.NaN, 0, 0], "value 0"],
    ["a string for a number", "float32", ["1", "2", "3"], "value 0"],
    ["a number for a truth", "bool", [1, 0, 1], "value 0"],
    ["a number for a string", "string", [1, 2, 3], "not a value"],
    ["a typed array for strings", "string", new Uint8Array(3), "single values of kind string"],
    ["text that is too long", "U3", ["four", "", ""], "4 characters"],
    ["bytes that are too long", "S2", [new Uint8Array(3), new Uint8Array(), new Uint8Array()], "3 bytes"],
    ["raw bytes that are too short", "r16", [1, 2, 2].map((n) => new Uint8Array(n)), "not a value"],
    ["half a complex number", "complex64", [[1], [1, 2], [1, 2]], "not a value"],
    ["a structure without a field", [["x", "<i2"]], [{}, { x: 1 }, { x: 1 }], "not a value"],
    [
      "a sub-array of another length",
      [["x", "<i2", [2]]],
      [[1], [1, 2], [1, 2]].map((x) => ({ x })),
      "subarray",
    ],
  ])("%s", async (_, dataType, values, message) => {
    const error = { code: "invalid-option", message: expect.stringContaining(message) };
    const store = new MemoryStore();
    const writer = await create(store, { shape: [3], dataType, chunks: [2], zarrFormat: "v2" });
    await expect(writer.write([], values)).rejects.toMatchObject(error);
    await writer.abort();
  });

  test("strides that reach beyond the values", () => {
    const place = { dataType: { kind: "int", size: 2 } as const, shape: [2, 2] };
    for (const stride of [[3, 1], [1], [-1, 1]]) {
      expect(() => chunkDataOf(new Int16Array(4), { ...place, stride })).toThrow(
        expect.objectContaining({ code: "invalid-option" }),
      );
    }
  });
});

test("countItems counts items, whatever holds them", () => {
  expect(countItems(new Float32Array(6), { kind: "complex", size: 8 })).toBe(3);
  expect(countItems(new Float32Array(6), { kind: "float", size: 2 })).toBe(6);
  expect(countItems(new Uint8Array(6), { kind: "float", size: 2 })).toBe(3);
  expect(countItems(["a", "b"], { kind: "string" })).toBe(2);
  expect(() => countItems(new Uint8Array(6), { kind: "string" })).toThrow("single values");
});
