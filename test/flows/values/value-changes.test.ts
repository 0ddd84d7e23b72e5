import { describe, expect, test } from "vitest";
import { type ArrayChanges, copy } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { all } from "../../support/consume.ts";
import { type GivenArray, given } from "../../support/given.ts";

const x = { dimensionNames: ["x"], chunks: [2] };
const arrays: Readonly<Record<string, GivenArray>> = {
  f: { dataType: "float64", ...x, values: [0.5, 1, 2, Number.NaN, 400, 5] },
  i: { dataType: "int16", ...x, values: [0, 1, 2, 3, 400, -5] },
  half: { dataType: "float64", ...x, values: [0, 1], fillValue: 0.5 },
  t: { dataType: "datetime64[s]", ...x, values: [1n, 2n] },
  s: { dataType: "string", ...x, values: ["a", "b"] },
  c: { dataType: "complex64", ...x, values: null, shape: [6] },
  u: { dataType: "int16", ...x, values: [0, -1], attributes: { _Unsigned: "true" } },
  x: { dataType: "float64", ...x, values: [0, 1] },
};

/** The error of a copy, which must leave nothing. */
async function failure(changes: unknown): Promise<string> {
  const source = await given({ arrays });
  const target = new MemoryStore();
  const error = await copy(source, target, { arrays: changes as ArrayChanges }).then(
    () => new Error("none"),
    (reason: Error) => reason,
  );
  expect(await all(target.list(""))).toEqual([]);
  const { code = "", details = {} } = error as { code?: string; details?: { hint?: string } };
  return [code, error.message, details.hint ?? ""].join(" | ");
}

describe("names and globs", () => {
  test.each([
    ["a name of no array", { ff: { dataType: "int8" } }, /`arrays` names `ff`, .* Did you mean `f`\?/],
    ["a glob of no array", { "z*": { dataType: "int8" } }, /The arrays are c, f, half/],
    [
      "a glob of texts",
      { "s*": { dataType: "int8" } },
      /`s\*` matches only .* hold no numbers .* Give the name/,
    ],
    ["a glob of coordinates", { "x*": { dataType: "int8" } }, /`x\*` matches only coordinates/],
  ])("%s", async (_, changes, expected) => {
    expect(await failure(changes)).toMatch(expected);
  });
});

describe("options of other types", () => {
  test.each([
    ["no object", "int8", /option `arrays` \(expected an object/],
    ["a list", [1], /option `arrays` \(expected an object/],
    ["an array without options", { f: null }, /options must be an object/],
    ["an unknown option", { f: { dtype: "int8" } }, /unknown option `dtype`/],
    ["dataType", { f: { dataType: 3 } }, /not a data type/],
    ["a type that does not exist", { f: { dataType: "float33" } }, /Did you mean `float32`/],
    ["map", { f: { map: 3 } }, /option `map` \(expected a function/],
    ["unpack", { f: { unpack: "yes" } }, /option `unpack` \(expected true or false/],
    ["pack", { f: { pack: null } }, /option `pack` \(expected a type/],
    ["a member of pack", { f: { pack: { dataType: "int16", scale: 1, ofset: 2 } } }, /`ofset`.*offset/],
    ["scale", { f: { pack: { dataType: "int16", scale: "1" } } }, /`scale` must be a number .*found "1", 0/],
    ["attributes", { f: { attributes: "x" } }, /option `attributes`/],
    ["an attribute", { f: { attributes: { a: () => 1 } } }, /JSON cannot hold/],
    ["overflow", { f: { dataType: "int8", overflow: "wrap" } }, /option `overflow`/],
    ["overflow alone", { f: { overflow: "clamp" } }, /`overflow` has no effect/],
  ])("%s", async (_, changes, expected) => {
    expect(await failure(changes)).toMatch(expected);
  });
});

describe("what no array can become", () => {
  test.each([
    ["texts", { s: { dataType: "float32" } }, /`s`: only values that are numbers/],
    ["numbers to texts", { f: { dataType: "string" } }, /can only become numbers or times/],
    ["numbers to structures", { f: { dataType: [["a", "<i4"]] } }, /can only become numbers or times/],
    ["complex numbers to real ones", { c: { dataType: "float32" } }, /complex64 cannot be cast .* `map`/],
    ["times", { t: { dataType: "int64" } }, /datetime64\[s\] cannot be cast to int64 .* `map`/],
    ["packed beside dataType", { f: { pack: "int16", dataType: "int8" } }, /`pack` cannot be combined/],
    ["packed into another type", { f: { pack: "int64" } }, /one of int8, int16.*found int64/],
    ["complex numbers packed", { c: { pack: "int16" } }, /complex64 cannot be cast to int16/],
    ["unpacked where nothing is packed", { i: { unpack: true } }, /`i`: the values are not packed/],
    ["of the other sign", { u: { dataType: "int32" } }, /`_Unsigned` .* --unpack/],
    ["fill value that was", { half: { dataType: "int8" } }, /`half`: .* stored as int8 .*0\.5.*--fill-value/],
    ["fill value beyond the type", { i: { fillValue: 1e9 } }, /new fill value cannot be stored as int16/],
    ["NaN as fill value of integers", { i: { fillValue: Number.NaN } }, /stored as int16 .*found NaN/],
    ["text as fill value", { i: { fillValue: "abc" } }, /stored as int16 .*found abc/],
  ])("%s", async (_, changes, expected) => {
    expect(await failure(changes)).toMatch(expected);
  });
});

describe("values that the type cannot hold", () => {
  test.each([
    [
      "a fraction",
      { f: { dataType: "int8" } },
      /chunk 0 of `f` .* 1 value of the chunk .* first at \[0\] .*0\.5/,
    ],
    [
      "a number beyond",
      { i: { dataType: "uint8" } },
      /2 of 2 values .* stored as uint8, the first at \[4\] .*400/,
    ],
    [
      "NaN, also with clamp",
      { f: { dataType: "int8", overflow: "clamp" } },
      /first at \[3\] .*found NaN.*`fillValue`/,
    ],
    ["neither true nor false", { i: { dataType: "bool" } }, /stored as bool, the first at \[2\]/],
    [
      "packed",
      { i: { pack: { dataType: "int8", scale: 1 } } },
      /stored as int8, the first at \[4\] .*found 400/,
    ],
  ])("%s", async (_, changes, expected) => {
    expect(await failure(changes)).toMatch(expected);
  });
});
