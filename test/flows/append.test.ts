// @module-tag slow
import { describe, expect, test } from "vitest";
import { append, type NewArray, openArray, type Values, writeRegion } from "../../src/index.ts";
import type { Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { failOnUnhandledRejections, rejection } from "../streams/support.ts";
import { itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { type ImageRecipe, makeImage } from "../support/ome-images.ts";

failOnUnhandledRejections();

const formats = ["v2", "v3"] as const;
const range = (from: number, count: number) => Float64Array.from({ length: count }, (_, i) => from + i);
const shapeAt = async (store: Store, path: string) => (await openArray({ store, path })).shape;

interface Part {
  readonly from: number;
  readonly length: number;
  readonly chunk?: number;
  readonly time?: object;
  readonly lat?: readonly number[];
  readonly values?: object;
  readonly zarrFormat?: "v2" | "v3";
}

/** `t` (time, lat) of 0, 1, 2, ... in C order with its coordinates. */
function part({ from, length, chunk = 4, time = {}, lat = [1, 2, 3], values = {}, zarrFormat = "v3" }: Part) {
  const along = (...dimensionNames: string[]) => ({ dataType: "float64", codec: "none", dimensionNames });
  const t = { ...along("time", "lat"), shape: [length, 3], chunks: [chunk, 2] };
  return given({
    zarrFormat,
    arrays: {
      t: { ...t, values: (i) => from * 3 + i, ...values },
      time: { ...along("time"), chunks: [chunk], values: range(from, length), ...time },
      lat: { ...along("lat"), values: lat },
    },
  });
}

/** A store, and the keys that are written to it from now on. */
function logged(store: Store) {
  const written: string[] = [];
  const log = withRequestLog(store, ({ operation, key = "" }) => {
    if (operation === "set" && !key.includes("lock")) written.push(key);
  });
  return { log, written };
}

describe("append", () => {
  test.each([
    [6, 7, 4, 3],
    [4, 4, 4, 1],
    [5, 1, 2, 9],
    [1, 30, 7, 4],
    [0, 3, 4, 4],
  ])("%i items and %i, in chunks of %i and %i", async (first, second, chunk, other) => {
    const target = await part({ from: 0, length: first, chunk });
    const values = { fillValue: null };
    const source = await part({ from: first, length: second, chunk: other, values, zarrFormat: "v2" });
    const { arrays, equal } = await append(source, target, { dim: "time" });
    expect(await itemsOf(target, "t")).toEqual([...range(0, 3 * (first + second))]);
    expect(await itemsOf(target, "time")).toEqual([...range(0, first + second)]);
    expect(equal).toEqual(["lat"]);
    const t = arrays.find(({ path }) => path === "t");
    expect(t).toMatchObject({ before: [first, 3], shape: [first + second, 3] });
    expect(await openArray({ store: target, path: "t" })).toMatchObject({ chunkShape: [chunk, 2] });
  });

  test("only chunks at the old edge that are not full are written again, and within a small budget", async () => {
    const { log, written } = logged(await part({ from: 0, length: 6 }));
    const source = await part({ from: 6, length: 200 });
    const { peakBuffers } = await append(source, log, { dim: "time", maxMemory: 65_536 });
    expect(peakBuffers).toBeLessThanOrEqual(65_536);
    const chunks = written.filter((key) => key.startsWith("t/c/")).sort();
    const expected = Array.from({ length: 51 }, (_, i) => [`t/c/${i + 1}/0`, `t/c/${i + 1}/1`]);
    expect(chunks).toEqual(expected.flat().sort());
    expect(written.at(-1)).toBe("time/zarr.json");
  });

  test("along another dimension than the first, of an array in shards, and of strings", async () => {
    const make = (array: NewArray, values: Values) => given({ ...array, values });
    const sharded = { dataType: "int32", shards: [2, 4], chunks: [1, 2] } as const;
    const a = await make({ ...sharded, shape: [2, 3] }, Int32Array.of(0, 1, 2, 5, 6, 7));
    const b = await make({ ...sharded, shape: [2, 2] }, Int32Array.of(3, 4, 8, 9));
    await append(b, a, { dim: "1" });
    expect(await itemsOf(a, "")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const text = { dataType: "string", chunks: [2], dimensionNames: ["name"] } as const;
    const names = await make({ ...text, shape: [3] }, ["a", "bb", ""]);
    await append(await make({ ...text, shape: [2] }, ["ccc", "d"]), names, { dim: "name" });
    expect(await itemsOf(names, "")).toEqual(["a", "bb", "", "ccc", "d"]);
  });

  test("coordinates that fall go on falling", async () => {
    const falling = async (values: readonly number[]) => {
      const store = await part({ from: 0, length: 2 });
      await writeRegion(await openArray({ store, path: "time" }), [], Float64Array.from(values));
      return store;
    };
    const target = await falling([9, 8]);
    await append(await falling([7, 6]), target, { dim: "time" });
    expect(await itemsOf(target, "time")).toEqual([9, 8, 7, 6]);
  });

  const days = { attributes: { units: "days since 2000-01-01" } };
  test.each<[string, Part, string]>([
    ["it does not continue", { from: 5, length: 2 }, "after 5, the last value of the target, found 5"],
    ["the grid differs", { from: 6, length: 2, lat: [1, 2, 4] }, "`lat`: 1 items differ between source"],
    ["units differ", { from: 6, length: 2, time: days }, "units"],
    ["it is packed", { from: 6, length: 2, values: { attributes: { scale_factor: 0.5 } } }, "scale_factor"],
    ["zeros are missing", { from: 6, length: 2, zarrFormat: "v2" }, "missing values"],
    ["data types differ", { from: 6, length: 2, values: { dataType: "int64" } }, "data types"],
  ])("is refused where %s, and nothing is written", async (_, recipe, message) => {
    const { log, written } = logged(await part({ from: 0, length: 6 }));
    expect(String(await rejection(append(await part(recipe), log, { dim: "time" })))).toContain(message);
    expect(written).toEqual([]);
  });

  test("units are compared by what they mean", async () => {
    const units = (text: string) => ({ attributes: { units: text, calendar: "standard" } });
    const target = await part({ from: 0, length: 2, time: units("days since 2000-01-01") });
    const source = await part({ from: 2, length: 2, time: units("day since 2000-01-01 00:00:00") });
    await append(source, target, { dim: "time" });
    expect(await itemsOf(target, "time")).toEqual([0, 1, 2, 3]);
  });
});

describe("append to images", () => {
  const [large, small] = [
    [2, 2, 4, 4],
    [2, 2, 2, 2],
  ];
  const axes = ["t", "c", "y", "x"];
  const image = (more: Partial<ImageRecipe> = {}) =>
    makeImage({ zarrFormat: "v3", axes, itemSize: [1, 1, 1, 1], shapes: [large, small], ...more });
  const omero = { channels: [{ label: "a" }, { label: "b" }] };

  test.each(formats)("one level of an image is refused in %s, its group grows", async (zarrFormat) => {
    const [source, target] = [await image({ zarrFormat }), await image({ zarrFormat, omero })];
    const level = append({ store: source, path: "0" }, { store: target, path: "0" }, { dim: "t" });
    expect(await rejection(level)).toMatchObject({
      code: "unsupported-operation",
      message: expect.stringContaining("one level of an image, but the image's levels would not grow"),
      details: { hint: expect.stringContaining("name the groups that contain the levels") },
    });
    await append(source, target, { dim: "t" });
    expect([await shapeAt(target, "0"), await shapeAt(target, "1")]).toEqual([
      [4, 2, 4, 4],
      [4, 2, 2, 2],
    ]);
  });

  test("an image of one level grows by its array, unless it has labels", async () => {
    const one = { shapes: [large] };
    const [store, target] = [await image(one), await image(one)];
    await append({ store, path: "0" }, { store: target, path: "0" }, { dim: "t" });
    expect(await shapeAt(target, "0")).toEqual([4, 2, 4, 4]);
    const labeled = { store: await image({ ...one, labels: ["cells"] }), path: "0" };
    const error = await rejection(append({ store, path: "0" }, labeled, { dim: "t" }));
    expect(String(error)).toContain("the image's labels would not grow");
  });

  test("channels that an image describes do not become more than it describes", async () => {
    const source = await image();
    expect(await rejection(append(source, await image({ omero }), { dim: "c" }))).toMatchObject({
      code: "unsupported-operation",
      message: expect.stringContaining("the image describes its channels"),
    });
    await append(source, await image(), { dim: "c" });
  });

  test.each(formats)("an image of %s goes on where the target ends", async (zarrFormat) => {
    const at = (t: number, y: number, x = 0.5) => {
      const translations = [y, y + 0.25].map((each) => [t, 0, each, 0]);
      return image({ zarrFormat, itemSize: [2, 1, 0.5, x], translations });
    };
    for (const [source, what, expected, found] of [
      [await at(14, 8), "the translations along y", "7", "8"],
      [await at(6, 7), "the translations along t", "14", "6"],
      [await at(14, 7, 0.75), "the scales along x", "0.5", "0.75"],
    ] as const) {
      const target = await at(10, 7);
      expect(await rejection(append(source, target, { dim: "t" }))).toMatchObject({
        code: "differs",
        message: expect.stringContaining(`${what} of the source do not continue those of the target`),
        details: { path: "0", expected, found },
      });
      expect(await shapeAt(target, "0")).toEqual(large);
    }
    const target = await at(10, 7);
    await append(await at(14, 7), target, { dim: "t" });
    expect(await shapeAt(target, "1")).toEqual([4, 2, 2, 2]);
  });

  test("a dimension that an image lacks is named with those that it has", async () => {
    const make = () => image({ zarrFormat: "v2" });
    expect(await rejection(append(await make(), await make(), { dim: "time" }))).toMatchObject({
      details: { hint: expect.stringContaining("t, c, y") },
    });
    await append(await make(), await make(), { dim: "0" });
  });
});

test.each([
  ["GeoTransform", "500 10 0 900 0 -10", "500 10 0 880 0 -10", "510 10 0 880 0 -10"],
  ["spatial:transform", [10, 0, 500, 0, -10, 900], [10, 0, 500, 0, -10, 880], [10, 0, 500, 0, -10, 900]],
])("a raster without coordinates goes on where the target ends: %s", async (name, first, next, other) => {
  const of = (value: string | readonly number[]) => {
    const grid = { shape: [2, 3], dataType: "float64", dimensionNames: ["y", "x"] };
    return given({ arrays: { r: { ...grid, attributes: { [name]: value } } } });
  };
  const target = await of(first);
  expect(await rejection(append(await of(other), target, { dim: "y" }))).toMatchObject({
    code: "differs",
    message: expect.stringContaining(name),
    details: { path: "r", expected: "10 0 500 0 -10 880" },
  });
  await append(await of(next), target, { dim: "y" });
  expect(await shapeAt(target, "r")).toEqual([4, 3]);
});
