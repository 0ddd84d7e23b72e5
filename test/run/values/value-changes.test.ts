import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { type ArrayChanges, copy, openArray, type ValueChanges } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
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

describe("changes of values are refused", () => {
  const int8 = { dataType: "int8" };

  test.each([
    // names and globs
    ["a name of no array", { ff: int8 }, /`arrays` names `ff`, .* Did you mean `f`\?/],
    ["a glob of no array", { "z*": int8 }, /The arrays are c, f, half/],
    ["a glob of texts", { "s*": int8 }, /`s\*` matches only .* without numbers .* give its exact name/],
    ["a glob of coordinates", { "x*": int8 }, /`x\*` matches only coordinates/],
    // options of other types
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
    // what no array can become
    ["texts", { s: { dataType: "float32" } }, /`s`: only numbers and times/],
    ["numbers to texts", { f: { dataType: "string" } }, /can be converted only to numbers or times/],
    [
      "numbers to structures",
      { f: { dataType: [["a", "<i4"]] } },
      /can be converted only to numbers or times/,
    ],
    ["complex numbers to real ones", { c: { dataType: "float32" } }, /complex64 cannot be cast .* `map`/],
    ["times", { t: { dataType: "int64" } }, /datetime64\[s\] cannot be cast to int64 .* `map`/],
    ["packed beside dataType", { f: { pack: "int16", dataType: "int8" } }, /`pack` cannot be combined/],
    ["packed into another type", { f: { pack: "int64" } }, /one of int8, int16.*found int64/],
    ["complex numbers packed", { c: { pack: "int16" } }, /complex64 cannot be cast to int16/],
    ["unpacked where nothing is packed", { i: { unpack: true } }, /`i`: the values are not packed/],
    ["of the other sign", { u: { dataType: "int32" } }, /`_Unsigned` .* --unpack/],
    ["fill value that was", { half: int8 }, /`half`: .* stored as int8 .*0\.5.*--fill-value/],
    ["fill value beyond the type", { i: { fillValue: 1e9 } }, /new fill value cannot be stored as int16/],
    ["NaN as fill value of integers", { i: { fillValue: Number.NaN } }, /stored as int16 .*found NaN/],
    ["text as fill value", { i: { fillValue: "abc" } }, /stored as int16 .*found abc/],
    // values that the type cannot hold
    ["a fraction", { f: int8 }, /chunk 0 of `f` .* 1 value of the chunk .* at \[0\] .*0\.5/],
    ["a number beyond", { i: { dataType: "uint8" } }, /2 of 2 values .* as uint8, .* first at \[4\] .*400/],
    ["NaN, also with clamp", { f: { ...int8, overflow: "clamp" } }, /at \[3\] .*found NaN.*`fillValue`/],
    ["neither true nor false", { i: { dataType: "bool" } }, /stored as bool, the first at \[2\]/],
    ["packed", { i: { pack: { ...int8, scale: 1 } } }, /as int8, the first at \[4\] .*found 400/],
  ])("%s", async (_, changes, expected) => {
    expect(await failure(changes)).toMatch(expected);
  });
});

const folder = temporaryFolder();

async function moduleOf(name: string, text: string): Promise<string> {
  const file = join(folder.path, name);
  await writeFile(file, text);
  return file;
}

/** The values after a copy with a map. */
async function mapped(map: unknown, changes: ValueChanges = {}): Promise<number[]> {
  const source = await given({ arrays: { a: { dataType: "float64", values: [1, 2, 3, 4], chunks: [2] } } });
  const target = new MemoryStore();
  try {
    await copy(source, target, { arrays: { a: { map: map as string, ...changes } } });
  } catch (error) {
    expect(await target.get("zarr.json")).toBeUndefined();
    throw error;
  }
  const { data } = await (await openArray({ store: target, path: "a" })).slice().read();
  return Array.from(data as ArrayLike<number>);
}

describe("functions", () => {
  const fail = () => {
    throw new Error("no value");
  };

  test.each([
    ["throw", fail, /chunk 0 of `a` .*`map` threw: no value/],
    ["reject", async () => fail(), /`map` threw: no value/],
    ["return fewer", () => [1], /expected 2 numbers for 2 items of float64, found 1/],
    ["return nothing", () => undefined, /found undefined/],
    ["return null", () => null, /found null/],
    ["return a text", () => "ab", /found string/],
    ["return texts", () => ["a", "b"], /not a number .*found string/],
    ["return gaps", () => [1, undefined], /not a number .*found undefined/],
  ])("that %s fail with the chunk", async (_, map, expected) => {
    const message = expect.stringMatching(expected);
    await expect(mapped(map)).rejects.toMatchObject({ code: "codec-error", message });
  });

  test("that give other values for the same chunk are found out", async () => {
    let calls = 0;
    const map = ({ data }: { data: Float64Array }) => data.map(() => calls++);
    await expect(mapped(map)).rejects.toMatchObject({ code: "differs", details: { path: "a" } });
  });

  test.each([
    ["a promise", async ({ data }: { data: Float64Array }) => data.map((one) => 2 * one)],
    ["a list", ({ data }: { data: Float64Array }) => Array.from(data, (one) => 2 * one)],
    ["bigints", ({ data }: { data: Float64Array }) => BigInt64Array.from(data, (one) => 2n * BigInt(one))],
    [
      "what they were given, changed in place",
      ({ data }: { data: Float64Array }) => {
        for (const [i, one] of data.entries()) data[i] = 2 * one;
        return data;
      },
    ],
  ])("may return %s", async (_, map) => {
    expect(await mapped(map)).toEqual([2, 4, 6, 8]);
  });
});

describe("modules", () => {
  test("may be given by path and by URL, and are loaded again where they were changed", async () => {
    const file = await moduleOf("changed.mjs", "export default ({ data }) => data.map((one) => 2 * one);");
    expect(await mapped(file)).toEqual([2, 4, 6, 8]);
    expect(await mapped(pathToFileURL(file))).toEqual([2, 4, 6, 8]);
    await moduleOf("changed.mjs", "export default ({ data }) => data.map((one) => 3 * one);");
    expect(await mapped(file)).toEqual([3, 6, 9, 12]);
  });

  test.each([
    ["no default export", "export const map = 1;", /is not a function .*found no default export/],
    ["another default export", "export default 3;", /is not a function .*found number/],
    ["a syntax error", "export default (", /cannot be loaded: /],
    ["an error of its own", "throw new Error('not today');", /cannot be loaded: not today/],
    ["no file", undefined, /cannot be loaded: ENOENT/],
  ])("that have %s are refused", async (name, text, expected) => {
    const file = text === undefined ? join(folder.path, "none.mjs") : await moduleOf(`${name}.mjs`, text);
    await expect(mapped(file)).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringMatching(expected),
      details: { url: pathToFileURL(file).href },
    });
  });
});
