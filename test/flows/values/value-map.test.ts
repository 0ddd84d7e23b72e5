import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copy, openArray, type ValueChanges } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-map-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function moduleOf(name: string, text: string): Promise<string> {
  const file = join(folder, name);
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
  test.each([
    [
      "throw",
      () => {
        throw new Error("no value");
      },
      /chunk 0 of `a` .*`map` threw: no value/,
    ],
    [
      "reject",
      async () => {
        throw new Error("no value");
      },
      /`map` threw: no value/,
    ],
    ["return fewer", () => [1], /expected 2 numbers for 2 items of float64, found 1/],
    ["return nothing", () => undefined, /found undefined/],
    ["return null", () => null, /found null/],
    ["return a text", () => "ab", /found string/],
    ["return texts", () => ["a", "b"], /not a number .*found string/],
    ["return gaps", () => [1, undefined], /not a number .*found undefined/],
  ])("that %s fail with the chunk", async (_, map, expected) => {
    await expect(mapped(map)).rejects.toMatchObject({
      code: "codec-error",
      message: expect.stringMatching(expected),
    });
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

  test("compute the items of missing chunks too", async () => {
    const source = await given({
      arrays: { a: { dataType: "int16", shape: [4], chunks: [2], values: null, fillValue: 7 } },
    });
    const target = new MemoryStore();
    await copy(source, target, {
      arrays: { a: { map: ({ data, region }) => data.map((one, i) => one + (region.start[0] ?? 0) + i) } },
      verify: "values",
    });
    expect([...(await (await openArray({ store: target, path: "a" })).slice().read()).data]).toEqual([
      7, 8, 9, 10,
    ]);
  });
});

describe("modules", () => {
  test("may be given by path and by URL", async () => {
    const file = await moduleOf("twice.mjs", "export default ({ data }) => data.map((one) => 2 * one);");
    expect(await mapped(file)).toEqual([2, 4, 6, 8]);
    expect(await mapped(pathToFileURL(file))).toEqual([2, 4, 6, 8]);
  });

  test("that were changed since they were loaded are loaded again", async () => {
    const file = await moduleOf("changed.mjs", "export default ({ data }) => data.map((one) => 2 * one);");
    expect(await mapped(file)).toEqual([2, 4, 6, 8]);
    await moduleOf("changed.mjs", "export default ({ data }) => data.map((one) => 3 * one);");
    expect(await mapped(file)).toEqual([3, 6, 9, 12]);
  });

  test.each([
    [
      "no default export",
      "export const map = 1;",
      /no function as its default export .*found no default export/,
    ],
    ["another default export", "export default 3;", /no function .*found number/],
    ["a syntax error", "export default (", /cannot be loaded: /],
    ["an error of its own", "throw new Error('not today');", /cannot be loaded: not today/],
  ])("that have %s are refused", async (name, text, expected) => {
    const file = await moduleOf(`${name}.mjs`, text);
    await expect(mapped(file)).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringMatching(expected),
      details: { url: pathToFileURL(file).href },
    });
  });

  test("that do not exist are refused", async () => {
    await expect(mapped(join(folder, "none.mjs"))).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringMatching(/cannot be loaded: ENOENT/),
    });
  });

  test("that throw are named with the chunk", async () => {
    const file = await moduleOf("throws.mjs", "export default () => { throw new Error('no value'); };");
    await expect(mapped(file)).rejects.toMatchObject({
      code: "codec-error",
      details: { url: pathToFileURL(file).href, path: "a", coords: expect.any(Array) },
    });
  });
});
