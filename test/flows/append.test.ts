// @module-tag slow
import { describe, expect, test } from "vitest";
import { append, type NewArray, openArray, type Values } from "../../src/index.ts";
import type { MemoryStore } from "../../src/stores/memory.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { failOnUnhandledRejections, rejection } from "../streams/support.ts";
import { itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { makeImage } from "../support/ome-images.ts";

failOnUnhandledRejections();

const range = (from: number, count: number) => Float64Array.from({ length: count }, (_, i) => from + i);

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
function part({ from, length, chunk = 4, time = {}, lat = [1, 2, 3], values = {}, zarrFormat }: Part) {
  const along = (...dimensionNames: string[]) => ({ dataType: "float64", codec: "none", dimensionNames });
  const t = { ...along("time", "lat"), shape: [length, 3], chunks: [chunk, 2] };
  return given({
    zarrFormat: zarrFormat ?? "v3",
    arrays: {
      t: { ...t, values: (i) => from * 3 + i, ...values },
      time: { ...along("time"), chunks: [chunk], values: range(from, length), ...time },
      lat: { ...along("lat"), values: lat },
    },
  });
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
    const { chunkShape } = await openArray({ store: target, path: "t" });
    expect(chunkShape).toEqual([chunk, 2]);
  });

  test("only chunks at the old edge that are not full are written again, and within a small budget", async () => {
    const target = await part({ from: 0, length: 6 });
    const written: string[] = [];
    const logged = withRequestLog(target, ({ operation, key }) => {
      if (operation === "set") written.push(key);
    });
    const source = await part({ from: 6, length: 200 });
    const { peakBuffers } = await append(source, logged, { dim: "time", maxMemory: 65_536 });
    expect(peakBuffers).toBeLessThanOrEqual(65_536);
    expect(written.filter((key) => /^t\/c\/0\//.test(key))).toEqual([]);
    expect(written.filter((key) => /^t\/c\/1\//.test(key)).sort()).toEqual(["t/c/1/0", "t/c/1/1"]);
    expect(new Set(written.filter((key) => key.startsWith("t/c/"))).size).toBe(2 * 51);
    expect(written.filter((key) => key.startsWith("t/c/")).length).toBe(2 * 51);
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
    const falling = (from: number) => ({ time: {}, from, length: 2 });
    const target = await part({ from: 0, length: 2 });
    const writer = async (store: MemoryStore, values: readonly number[]) => {
      const { writeRegion } = await import("../../src/index.ts");
      await writeRegion(await openArray({ store, path: "time" }), [], Float64Array.from(values));
    };
    await writer(target, [9, 8]);
    const source = await part(falling(0));
    await writer(source, [7, 6]);
    await append(source, target, { dim: "time" });
    expect(await itemsOf(target, "time")).toEqual([9, 8, 7, 6]);
  });

  test.each([
    [
      "it does not continue",
      { from: 5, length: 2 },
      "expected after 5, the last value of the target, found 5",
    ],
    ["the grid differs", { from: 6, length: 2, lat: [1, 2, 4] }, "`lat`: 1 items of the source"],
    [
      "units differ",
      { from: 6, length: 2, time: { attributes: { units: "days since 2000-01-01" } } },
      "units",
    ],
    ["it is packed", { from: 6, length: 2, values: { attributes: { scale_factor: 0.5 } } }, "scale_factor"],
    ["zeros are missing", { from: 6, length: 2, zarrFormat: "v2" as const }, "missing values"],
    ["data types differ", { from: 6, length: 2, values: { dataType: "int64" } }, "data types"],
  ])("is refused where %s, and nothing is written", async (_, recipe, message) => {
    const target = await part({ from: 0, length: 6 });
    const written: string[] = [];
    const logged = withRequestLog(target, ({ operation, key }) => {
      if (operation === "set" && !key.includes("lock")) written.push(key);
    });
    const error = await rejection(append(await part(recipe), logged, { dim: "time" }));
    expect(String(error)).toContain(message);
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
  const recipe = { zarrFormat: "v3", axes: ["t", "c", "y", "x"], itemSize: [1, 1, 1, 1] } as const;
  const shapes = [
    [2, 2, 4, 4],
    [2, 2, 2, 2],
  ];
  const channels = { channels: [{ label: "a" }, { label: "b" }] };

  test.each(["v2", "v3"] as const)(
    "one level of an image is refused in %s, its group grows",
    async (zarrFormat) => {
      const [source, target] = [
        await makeImage({ ...recipe, zarrFormat, shapes }),
        await makeImage({ ...recipe, zarrFormat, shapes, omero: channels }),
      ];
      const dim = "t";
      const level = append({ store: source, path: "0" }, { store: target, path: "0" }, { dim });
      expect(await rejection(level)).toMatchObject({
        code: "unsupported-operation",
        message: expect.stringContaining("one level of an image, whose other levels would stay shorter"),
        details: { hint: expect.stringContaining("name the groups that hold the levels") },
      });
      await append(source, target, { dim });
      expect((await openArray({ store: target, path: "0" })).shape).toEqual([4, 2, 4, 4]);
      expect((await openArray({ store: target, path: "1" })).shape).toEqual([4, 2, 2, 2]);
    },
  );

  test("an image of one level grows by its array, unless it has labels", async () => {
    const one = { ...recipe, shapes: shapes.slice(0, 1) };
    const [source, target] = [await makeImage(one), await makeImage(one)];
    await append({ store: source, path: "0" }, { store: target, path: "0" }, { dim: "t" });
    expect((await openArray({ store: target, path: "0" })).shape).toEqual([4, 2, 4, 4]);
    const labelled = await makeImage({ ...one, labels: ["cells"] });
    const refused = append({ store: source, path: "0" }, { store: labelled, path: "0" }, { dim: "t" });
    expect(String(await rejection(refused))).toContain("whose other labels would stay shorter");
  });

  test("channels that an image describes do not become more than it describes", async () => {
    const [source, target] = [
      await makeImage({ ...recipe, shapes }),
      await makeImage({ ...recipe, shapes, omero: channels }),
    ];
    expect(await rejection(append(source, target, { dim: "c" }))).toMatchObject({
      code: "unsupported-operation",
      message: expect.stringContaining("the image describes its channels"),
    });
    await append(source, await makeImage({ ...recipe, shapes }), { dim: "c" });
  });

  test.each(["v2", "v3"] as const)("an image of %s goes on where the target ends", async (zarrFormat) => {
    const one = { ...recipe, zarrFormat, itemSize: [2, 1, 0.5, 0.5], shapes };
    const moved = (t: number, y: number) => ({
      translations: [
        [t, 0, y, 0],
        [t, 0, y + 0.25, 0],
      ],
    });
    const target = () => makeImage({ ...one, ...moved(10, 7) });
    const refusal = async (source: MemoryStore) => {
      const into = await target();
      const error = await rejection(append(source, into, { dim: "t" }));
      expect((await openArray({ store: into, path: "0" })).shape).toEqual([2, 2, 4, 4]);
      return error;
    };
    const differs = (what: string, expected: string, found: string) => ({
      code: "differs",
      message: expect.stringContaining(`${what} of the source do not continue the target`),
      details: { path: "0", expected, found },
    });
    expect(await refusal(await makeImage({ ...one, ...moved(14, 8) }))).toMatchObject(
      differs("the translations along y", "7", "8"),
    );
    expect(await refusal(await makeImage({ ...one, ...moved(6, 7) }))).toMatchObject(
      differs("the translations along t", "14", "6"),
    );
    const wider = { ...one, itemSize: [2, 1, 0.5, 0.75], ...moved(14, 7) };
    expect(await refusal(await makeImage(wider))).toMatchObject(differs("the scales along x", "0.5", "0.75"));
    const into = await target();
    await append(await makeImage({ ...one, ...moved(14, 7) }), into, { dim: "t" });
    expect((await openArray({ store: into, path: "1" })).shape).toEqual([4, 2, 2, 2]);
  });

  test("a dimension that an image lacks is named with those that it has", async () => {
    const image = () => makeImage({ ...recipe, zarrFormat: "v2", shapes });
    const refused = append(await image(), await image(), { dim: "time" });
    expect(await rejection(refused)).toMatchObject({ details: { hint: expect.stringContaining("t, c, y") } });
    await append(await image(), await image(), { dim: "0" });
  });
});

describe("append to rasters without coordinates", () => {
  const raster = (dimensionNames: readonly string[], attributes: Record<string, unknown>) =>
    given({
      zarrFormat: "v3",
      arrays: { r: { shape: [2, 3], dataType: "float64", dimensionNames, attributes } },
    });

  test.each([
    ["GeoTransform", "500 10 0 900 0 -10", "500 10 0 880 0 -10", "510 10 0 880 0 -10"],
    ["spatial:transform", [10, 0, 500, 0, -10, 900], [10, 0, 500, 0, -10, 880], [10, 0, 500, 0, -10, 900]],
  ])("%s goes on where the target ends", async (name, first, next, other) => {
    const of = (value: string | readonly number[]) => raster(["y", "x"], { [name]: value });
    const target = await of(first);
    expect(await rejection(append(await of(other), target, { dim: "y" }))).toMatchObject({
      code: "differs",
      message: expect.stringContaining(name),
      details: { path: "r", expected: "10 0 500 0 -10 880" },
    });
    await append(await of(next), target, { dim: "y" });
    expect((await openArray({ store: target, path: "r" })).shape).toEqual([4, 3]);
  });
});
