// @module-tag slow
import { describe, expect, test } from "vitest";
import { exists, isZarrflowError, openArray, openGroup, pyramid, slice } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../streams/support.ts";
import { itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const arrayOf = (shape: readonly number[], chunks: readonly number[], more: object = {}) =>
  given({ shape, chunks, dataType: "int32", codec: "none", ...more });

/** The smallest budget that works. */
async function leastMemory(source: MemoryStore, options: object): Promise<number> {
  const error = await rejection(
    pyramid(source, new MemoryStore(), { ...options, maxMemory: 1, dryRun: true }),
  );
  if (!isZarrflowError(error, "budget-too-small")) throw error;
  return error.details.neededBytes;
}

describe("pyramid", () => {
  test("of an array: arrays 0, 1, ... until each axis is one chunk, each chunk read and written once", async () => {
    const source = await arrayOf([256, 384], [16, 16]);
    const requests: string[] = [];
    const read = withRequestLog(source, ({ operation, key, bytes }) => {
      if (operation === "get" && bytes !== undefined && key.startsWith("c/")) requests.push(key);
    });
    const target = new MemoryStore();
    const written: string[] = [];
    const logged = withRequestLog(target, ({ operation, key }) => {
      if (operation === "set") written.push(key);
    });
    const maxMemory = await leastMemory(source, {});
    const report = await pyramid(read, logged, { maxMemory });
    expect(report.levels.map(({ scale }) => scale[0])).toEqual([1, 2, 4, 8, 16, 32]);
    expect(report.arrays[0]?.shapes.at(-1)).toEqual([8, 12]);
    expect(report.arrays[0]?.levelsInWindow).toBeLessThan(4);
    expect(report.peakBuffers).toBeLessThanOrEqual(maxMemory);
    expect(requests.length).toBe(16 * 24);
    expect(new Set(requests).size).toBe(requests.length);
    const chunks = written.filter((key) => key.includes("/c/"));
    expect(chunks.length).toBe(16 * 24 + 8 * 12 + 4 * 6 + 2 * 3 + 1 * 2 + 1);
    expect(new Set(chunks).size).toBe(chunks.length);
    expect(written.at(-1)).toBe("zarr.json");
    // the mean of 0, 1, 384 and 385 is 192.5: halves go to the even number
    expect((await itemsOf(target, "1")).slice(0, 2)).toEqual([192, 194]);
    const { attributes } = await openGroup(target);
    const axes = ["y", "x"].map((name) => ({ name, type: "space" }));
    expect(attributes.ome).toMatchObject({ version: "0.5", multiscales: [{ axes, type: "mean" }] });
  });

  test.each([
    [[2, 90, 71], [1, 7, 6], "tyx", 2, "mean"],
    [[150, 131], [8, 8], "yx", { y: 3, x: 2 }, "mode"],
    [[40, 40, 40], [4, 5, 4], "zyx", { z: 2, y: 2, x: 1 }, "max"],
    [[128, 128], [16, 16], "yx", 4, "nearest"],
  ] as const)(
    "%j in chunks of %j: windows of any size make the same levels",
    async (shape, chunks, axes, factor, method) => {
      const source = await arrayOf(shape, chunks);
      const [small, large] = [new MemoryStore(), new MemoryStore()];
      const options = { axes, method, factor, levels: 5 } as const;
      const maxMemory = await leastMemory(source, options);
      const { arrays, levels, peakBuffers } = await pyramid(source, small, { ...options, maxMemory });
      await pyramid(source, large, options);
      expect(arrays[0]?.levelsInWindow).toBeLessThan(levels.length);
      expect(peakBuffers).toBeLessThanOrEqual(maxMemory);
      for (const { path } of levels) expect(await itemsOf(small, path)).toEqual(await itemsOf(large, path));
    },
  );

  test("into a zip, which takes each chunk once", async () => {
    const source = await arrayOf([30, 40], [4, 8]);
    const target = folder.next("image.zarr.zip");
    await pyramid(source, target, {});
    const last = await openArray(`${target}/3`);
    expect(last.shape).toEqual([4, 5]);
    const memory = new MemoryStore();
    await pyramid(source, memory, {});
    expect([...(await slice(last).read()).data]).toEqual(await itemsOf(memory, "3"));
    await last.store.close?.();
  });

  test("of a sharded array, whose levels are sharded too", async () => {
    const source = await arrayOf([20, 20], [2, 2], { shards: [4, 8], dimensionNames: ["y", "x"] });
    const target = new MemoryStore();
    await pyramid(source, target, { levels: 3 });
    const { metadata, shape } = await openArray({ store: target, path: "2" });
    expect(metadata.chunkGrid).toEqual({ chunkShape: [4, 8], innerChunkShape: [2, 2] });
    expect(shape).toEqual([5, 5]);
    expect((await itemsOf(target, "2"))[0]).toBe(31);
  });

  test("of a dataset: a group for each level, with coordinates of their own", async () => {
    const t = Float64Array.from({ length: 2 * 5 * 4 }, (_, i) => (i % 7 === 0 ? Number.NaN : i));
    const along = (...dimensionNames: string[]) => ({ dimensionNames, codec: "none" });
    const lat = { ...along("lat"), dataType: "float32", values: [50, 40, 30, 20, 10] };
    const bounds = [55, 45, 45, 35, 35, 25, 25, 15, 15, 5];
    const classes = (i: number) => [1, 3, 3, 3][i % 4] ?? 0;
    const kind = { ...along("lat", "lon"), dataType: "int32", values: classes };
    const grid = { shape: [2, 5, 4], chunks: [1, 2, 2] };
    const store = await given({
      attributes: { title: "weather" },
      arrays: {
        t: { ...along("time", "lat", "lon"), ...grid, dataType: "float64", values: t },
        lat: { ...lat, attributes: { bounds: "lat_bnds" } },
        lat_bnds: { ...along("lat", "nv"), shape: [5, 2], dataType: "float64", values: bounds },
        lon: { ...along("lon"), dataType: "int32", values: [0, 1, 2, 3] },
        kind: { ...kind, shape: [5, 4], attributes: { flag_values: [1, 2, 3] } },
        odd: { codec: "none", shape: [3, 2], dataType: "int32", values: [1, 2, 3, 4, 5, 6] },
        time: { ...along("time"), dataType: "string", values: ["a", "b"] },
      },
    });
    const target = new MemoryStore();
    const report = await pyramid(store, target, {});
    expect(report.convention).toBe("multiscales");
    expect(report.spatial.toSorted()).toEqual(["lat", "lon"]);
    expect(report.levels.map(({ path }) => path)).toEqual(["0", "1", "2"]);
    expect(await itemsOf(target, "0/t")).toEqual([...t]);
    expect(await itemsOf(target, "1/lat")).toEqual([45, 25, 10]);
    expect(await itemsOf(target, "1/lat_bnds")).toEqual([55, 35, 35, 15, 15, 5]);
    expect(await itemsOf(target, "1/lon")).toEqual([0.5, 2.5]);
    expect(await itemsOf(target, "1/time")).toEqual(["a", "b"]);
    expect(await itemsOf(target, "1/odd")).toEqual([1, 2, 3, 4, 5, 6]);
    // of classes the most frequent, the least of several
    expect(await itemsOf(target, "1/kind")).toEqual([1, 3, 1, 3, 1, 3]);
    // 0 is missing
    expect((await itemsOf(target, "1/t"))[0]).toBe((1 + 4 + 5) / 3);
    const { attributes } = await openGroup(target);
    expect(attributes).toMatchObject({
      title: "weather",
      zarr_conventions: [{ name: "multiscales" }],
      multiscales: {
        layout: [
          { asset: "0", transform: { scale: [1, 1], translation: [0, 0] } },
          { asset: "1", derived_from: "0", transform: { scale: [2, 2], translation: [0.5, 0.5] } },
          { asset: "2", derived_from: "0" },
        ],
        resampling_method: "average",
      },
    });
  });

  test("what cannot be is refused before anything is written", async () => {
    const source = await arrayOf([8, 8], [4, 4], { dimensionNames: ["time", "lat"] });
    const target = new MemoryStore();
    const refused = async (from: MemoryStore, options: object) =>
      String(await rejection(pyramid(from, target, options)));
    expect(await refused(source, {})).toContain("the axes of the image are unknown");
    const image = await arrayOf([2, 8, 8], [1, 4, 4], { dimensionNames: ["c", "y", "x"] });
    expect(await refused(image, { factor: { c: 2 } })).toContain("dimension `c` is not spatial");
    expect(await refused(image, { factor: "y=2,X=2" })).toContain("there is no dimension `X`");
    expect(await refused(image, { factor: 0 })).toContain("invalid factor");
    expect(await refused(image, { method: "median" })).toContain("one of mean, nearest, mode, min, max");
    expect(await refused(image, { maxMemory: 1000 })).toContain("no plan fits the memory budget");
    expect(await exists(target)).toBe(false);
  });

  test("a target that is there is refused, kept, or replaced", async () => {
    const image = await arrayOf([8, 8], [4, 4]);
    const target = await arrayOf([1, 1], [1, 1]);
    expect(String(await rejection(pyramid(image, target)))).toMatch(/exists/);
    expect(await pyramid(image, target, { ifExists: "skip" })).toMatchObject({ skipped: true });
    expect(await itemsOf(target, "")).toEqual([0]);
    const dry = new MemoryStore();
    await pyramid(image, dry, { dryRun: true });
    expect(await exists(dry)).toBe(false);
    await pyramid(image, target, { ifExists: "replace" });
    expect((await itemsOf(target, "1")).length).toBe(16);
  });
});
