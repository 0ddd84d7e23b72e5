// @module-tag slow
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planFlow } from "../../../../src/flows/request/flow.ts";
import type { Slice } from "../../../../src/hierarchy/slice.ts";
import {
  asStore,
  copy,
  formatSlice,
  openArray,
  openGroup,
  planSlice,
  slice,
  sliceTo,
} from "../../../../src/index.ts";
import { MemoryStore } from "../../../../src/stores/memory.ts";
import type { Store } from "../../../../src/stores/store.ts";
import { coordsOf } from "../../../../src/util/shape.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { bytesOf, itemsOf, keysOf } from "../../../support/consume.ts";
import { type GivenArray, given, givenKeys } from "../../../support/given.ts";

const folders = temporaryFolder();

interface Grid {
  readonly longitudes: readonly number[];
  readonly dataType?: string;
  readonly attributes?: Record<string, unknown>;
  /** Stored numbers of longitudes; these by default. */
  readonly stored?: (longitude: number) => number;
  readonly chunks?: readonly number[];
  readonly shards?: readonly number[];
  readonly bounds?: boolean;
  readonly coordinateChunk?: number;
  readonly zarrFormat?: "v2" | "v3";
}

const EAST = { units: "degrees_east", standard_name: "longitude" };
const up = (from: number, step: number, n: number) => Array.from({ length: n }, (_, i) => from + i * step);

/** A group of `t(y, longitude)`, whose items are `1000 * y + item`, with its longitudes. */
async function made(
  grid: Grid,
  store = new MemoryStore(),
  group = "",
  attributesOfT: Record<string, unknown> = {},
): Promise<MemoryStore> {
  const { longitudes, dataType = "float64", attributes = {}, stored = (one) => one, bounds = false } = grid;
  const { chunks = [2, 7], shards, zarrFormat = "v3", coordinateChunk = 5 } = grid;
  const n = longitudes.length;
  const t: GivenArray = {
    ...{ shape: [3, n], chunks, ...(shards && { shards }), dataType: "int32" },
    ...{ dimensionNames: ["y", "longitude"], attributes: attributesOfT },
    values: (i) => 1000 * Math.floor(i / n) + (i % n),
  };
  const longitude: GivenArray = {
    ...{ shape: [n], chunks: [coordinateChunk], dataType, dimensionNames: ["longitude"] },
    attributes: { ...EAST, ...attributes, ...(bounds && { bounds: "lon_bnds" }) },
    values: (i) => stored(longitudes[i] ?? 0),
  };
  const lon_bnds: GivenArray = {
    ...{ shape: [n, 2], chunks: [4, 2], dataType: "float64", dimensionNames: ["longitude", "nv"] },
    values: (i) => (longitudes[i >> 1] ?? 0) + (i % 2) - 0.5,
  };
  const arrays = { t, longitude, ...(bounds && { lon_bnds }) };
  return given({ at: { store, path: group }, zarrFormat, arrays }).then(() => store);
}

const numbers = async (store: Store, path: string) => (await itemsOf(store, path)).map(Number);

/** Longitudes, and items of the first row, that a slice gives. */
async function sliced(store: MemoryStore, text: string, options = {}) {
  const target = new MemoryStore();
  await sliceTo(await openGroup(store), target, { slice: text, ...options });
  const longitudes = await numbers(target, "longitude");
  return { target, longitudes, items: (await numbers(target, "t")).slice(0, longitudes.length) };
}

/** Changes the document of the longitudes as text. */
async function editText(store: MemoryStore, from: string | RegExp, to: string): Promise<void> {
  const text = new TextDecoder().decode(await store.get("longitude/zarr.json"));
  await givenKeys({ "longitude/zarr.json": text.replace(from, to) }, store);
}

/** The items of a slice, as its chunks have them, in C order of rows of a width. */
async function cellsOf(part: Slice, width: number): Promise<number[]> {
  const cells: number[] = [];
  for await (const { region, data, shape, stride } of part.chunks())
    for (const at of coordsOf(shape)) {
      const [x = 0, y = 0] = at.map((c, d) => c + (region.start[d] ?? 0)).reverse();
      cells[y * width + x] = Number(data.at(at.reduce((sum, c, d) => sum + c * (stride[d] ?? 0), 0)));
    }
  return cells;
}

const globe = up(0, 1.5, 240);
const centred = up(-180, 10, 36);
const tens = up(0, 10, 36);
const half = up(0.5, 1, 360);
/** Stored as so many parts of a degree, from an offset. */
const packed = (dataType: string, parts: number, offset = 0, more: object = {}) => ({
  ...{ dataType, attributes: { scale_factor: 1 / parts, add_offset: offset, ...more } },
  stored: (one: number) => Math.round((one - offset) * parts),
});

describe("ranges of longitude across the seam", () => {
  it.each([
    ["350..10", globe, [...up(-9, 1.5, 13)], [...up(234, 1, 6), ...up(0, 1, 7)]],
    ["-10..10", globe, [...up(-9, 1.5, 13)], [...up(234, 1, 6), ...up(0, 1, 7)]],
    ["350..370", globe, [...up(351, 1.5, 13)], [...up(234, 1, 6), ...up(0, 1, 7)]],
    ["170..-170", centred, [170, 180, 190], [35, 0, 1]],
    ["170..190", centred, [170, 180, 190], [35, 0, 1]],
    ["200..220", centred, [200, 210, 220], [2, 3, 4]],
    ["-190..-170", centred, [-190, -180, -170], [35, 0, 1]],
    ["350..10", centred, [-10, 0, 10], [17, 18, 19]],
    ["340..20..2", tens, [-20, 0, 20], [34, 0, 2]],
    ["-20..20..3", tens, [-20, 10], [34, 1]],
    ["-180..180", tens, up(-180, 10, 36), [...up(18, 1, 18), ...up(0, 1, 18)]],
    ["0..360", centred, up(0, 10, 36), [...up(18, 1, 18), ...up(0, 1, 18)]],
    ["30..10", tens, [...up(30, 10, 35)], [...up(3, 1, 33), 0, 1]],
    ["0..350", tens, tens, up(0, 1, 36)],
    ["-10..10", up(0, 10, 37), [-10, 0, 10], [35, 0, 1]],
    ["340..360", up(0, 10, 37), [340, 350, 360], [34, 35, 36]],
    ["350..10", tens.toReversed(), [10, 0, -10], [34, 35, 0]],
    ["-10..10", tens.toReversed(), [10, 0, -10], [34, 35, 0]],
    ["0..20", tens.toReversed(), [20, 10, 0], [33, 34, 35]],
    ["170..190", [...up(180, 10, 18), ...up(0, 10, 18)], [170, 180, 190], [35, 0, 1]],
    ["-10..10", [...up(180, 10, 18), ...up(0, 10, 18)], [-10, 0, 10], [17, 18, 19]],
  ])("give %s of a globe", async (range, longitudes, expected, items) => {
    const found = await sliced(await made({ longitudes }), `longitude=${range}`);
    expect(found.longitudes).toEqual(expected);
    expect(found.items).toEqual(items);
  });

  it.each([
    { units: "degrees_E", standard_name: "x" },
    { units: "degree_east", standard_name: "x" },
    { units: "degreesE", standard_name: "x" },
    { units: "degrees", standard_name: "longitude" },
    { units: "degrees", standard_name: "x", axis: "X" },
  ])("are known by %j", async (attributes) => {
    const found = await sliced(await made({ longitudes: tens, attributes }), "longitude=-10..10");
    expect(found.longitudes).toEqual([-10, 0, 10]);
  });

  it.each<[string, Partial<Grid>, number[]]>([
    ["float32", { dataType: "float32" }, [-10, 0, 10]],
    ["int16", { dataType: "int16" }, [-10, 0, 10]],
    ["packed", packed("int16", 10, 5), [-150, -50, 50]],
    ["unsigned", { dataType: "uint16" }, [350, 360, 370]],
    ["of hundredths", packed("uint16", 100), [35000, 36000, 37000]],
    ["float32 with missing chunks", { dataType: "float32", coordinateChunk: 1 }, [-10, 0, 10]],
  ])("keep %s stored as they are", async (_, grid, expected) => {
    const store = await made({ longitudes: tens, ...grid });
    const { target, longitudes } = await sliced(store, "longitude=350..10");
    expect(longitudes).toEqual(expected);
    expect((await openArray({ store: target, path: "longitude" })).dataType).toBe(grid.dataType);
  });

  it("match labels that a float32 or a step rounds", async () => {
    const longitudes = up(0, 0.1, 3600).map((one) => Math.fround(one));
    const store = await made({ longitudes, dataType: "float32", chunks: [3, 1000] });
    const { items } = await sliced(store, "longitude=-0.3..0.2");
    expect(items).toEqual([3597, 3598, 3599, 0, 1, 2]);
  });

  it("shift bounds as their coordinate", async () => {
    for (const zarrFormat of ["v2", "v3"] as const) {
      const store = await made({ longitudes: tens, bounds: true, zarrFormat });
      const { target } = await sliced(store, "longitude=-10..10");
      expect(await numbers(target, "lon_bnds")).toEqual([-10.5, -9.5, -0.5, 0.5, 9.5, 10.5]);
      const alone = new MemoryStore();
      await sliceTo(await openArray({ store, path: "t" }), alone, { slice: "longitude=-10..10,y=@1" });
      expect(await numbers(alone, "longitude")).toEqual([-10, 0, 10]);
      expect(await numbers(alone, "lon_bnds")).toEqual([-10.5, -9.5, -0.5, 0.5, 9.5, 10.5]);
      expect(await numbers(alone, "t")).toEqual([1035, 1000, 1001]);
    }
  });

  it("shift a coordinate, or its bounds, that is sliced by itself", async () => {
    for (const [i, grid] of [{}, packed("int16", 10)].entries()) {
      const root = folders.next(`${i}.zarr`);
      await copy(await openGroup(await made({ longitudes: tens, bounds: true, ...grid })), root);
      for (const name of ["longitude", "lon_bnds"]) {
        for (const companions of [true, false]) {
          const target = new MemoryStore();
          const options = { slice: "longitude=-10..10", companions, chunks: "longitude=2" };
          await sliceTo(join(root, name), target, { ...options, verify: "values" });
          const isMember = (await target.get(`${name}/zarr.json`)) !== undefined;
          const [first] = await numbers(target, isMember ? name : "");
          expect(first).toBe(name === "lon_bnds" ? -10.5 : i === 0 ? -10 : -100);
        }
      }
    }
  });

  it("move what says where a raster lies", async () => {
    const places = {
      GeoTransform: "-5 10 0 60 0 -40",
      "spatial:transform": [10, 0, -5, 0, -40, 60],
      "spatial:bbox": [-5, -60, 355, 60],
      "proj:transform": [10, 0, -5, 0, -40, 60],
    };
    const store = await made({ longitudes: tens }, new MemoryStore(), "", places);
    const origins = async (range: string, options = {}) => {
      const { target } = await sliced(store, `longitude=${range}`, options);
      const { attributes } = await openArray({ store: target, path: "t" });
      const [left] = String(attributes.GeoTransform).split(" ").map(Number);
      const [, , a] = attributes["spatial:transform"] as number[];
      const [, , b] = attributes["proj:transform"] as number[];
      const [west, , east] = attributes["spatial:bbox"] as number[];
      expect([left, a, b, west]).toEqual([west, west, west, west]);
      return [west, east];
    };
    expect(await origins("-60..-20")).toEqual([-65, -15]);
    expect(await origins("-20..20")).toEqual([-25, 25]);
    expect(await origins("340..360")).toEqual([335, 365]);
    expect(await origins("-180..180")).toEqual([-185, 175]);
    expect(await origins("360..719")).toEqual([355, 715]);
    expect(await origins("20..40")).toEqual([15, 45]);
    const alone = new MemoryStore();
    const options = { slice: "longitude=-60..-20", companions: false };
    await sliceTo(await openArray({ store, path: "t" }), alone, options);
    expect((await openArray(alone)).attributes).toMatchObject({ "spatial:bbox": [-65, -60, -15, 60] });
  });

  it("widen ranges of valid longitudes however they are written, once", async () => {
    const attributes = { actual_range: [0, 350], valid_range: [0, 360], valid_min: [0], valid_max: 360 };
    const store = await made({ longitudes: tens, attributes });
    await editText(store, /\[\s*0,\s*360\s*\]/, "[0.0,360.0]");
    await editText(store, /\[\s*0\s*\]/, "[0.0]");
    for (const to of ["v2", "v3"] as const) {
      const { target } = await sliced(store, "longitude=-20..20", { to });
      const { attributes } = await openArray({ store: target, path: "longitude" });
      const wider = { valid_range: [-360, 360], valid_min: [-360], valid_max: 360 };
      expect(attributes).toMatchObject({ units: "degrees_east", ...wider });
    }
    const grid = packed("uint16", 100, 0, { valid_range: [0, 36000] });
    const { target } = await sliced(await made({ longitudes: tens, ...grid }), "longitude=350..370");
    const shifted = await openArray({ store: target, path: "longitude" });
    expect(shifted.attributes).toMatchObject({ valid_range: [0, 65535] });
  });

  it("are decoded, and then shifted, in tables", async () => {
    const store = await made({ longitudes: centred, ...packed("int16", 100) });
    const written = async (path: string, format: "csv" | "ndjson" | "json" | "npy") =>
      bytesOf(
        formatSlice(slice(await openArray({ store, path }), "longitude=0..360"), format, { decode: true }),
      );
    const all = up(0, 10, 36);
    const csv = `${await written("longitude", "csv")}`.trim().split(/\r?\n/);
    expect(csv.slice(-36).map((line) => Number(line.split(",").at(-1)))).toEqual(all);
    const ndjson = `${await written("longitude", "ndjson")}`.trim().split("\n");
    expect(ndjson.map((line) => JSON.parse(line).longitude)).toEqual(all);
    expect(`${await written("t", "csv")}`.split(/\r?\n/)[36]).toMatch(/^0,350(\.0)?,17$/);
    expect(JSON.parse(`${await written("longitude", "json")}`)).toEqual(all);
    const npy = Uint8Array.from(await written("longitude", "npy"));
    expect(Array.from(new Float64Array(npy.slice(-36 * 8).buffer))).toEqual(all);
  });

  it("are refused before anything is written that cannot hold them", async () => {
    const grid = packed("int16", 100, 0, { valid_range: [-18000, 18000] });
    const store = await made({ longitudes: centred, ...grid });
    const target = new MemoryStore();
    const refused = {
      code: "unsupported-operation",
      message: expect.stringMatching(/longitudes from 0 to 350 do not fit its data type/),
      details: { hint: expect.stringMatching(/-180\.\.180.*wider data type/) },
    };
    for (const path of ["longitude", "t", ""]) {
      const options = { slice: "longitude=0..360" };
      await expect(planFlow({ store, path }, target, options)).rejects.toMatchObject(refused);
      await expect(sliceTo({ store, path }, target, options)).rejects.toMatchObject(refused);
    }
    expect(await keysOf(target)).toEqual([]);
  });

  it("read a scale_factor that is written in another manner, and are served as they are asked for", async () => {
    const store = await made({ longitudes: tens, ...packed("int32", 100) });
    await editText(store, "0.01", "1e-2");
    expect((await sliced(store, "longitude=-10..10")).longitudes).toEqual([-1000, 0, 1000]);
    const served = await asStore(await openGroup(store), { slice: "longitude=-10..10" });
    expect(await numbers(served, "longitude")).toEqual([-1000, 0, 1000]);
  });

  it("take single labels, and the nearest, by whole turns", async () => {
    const array = await openArray({ store: await made({ longitudes: globe }), path: "t" });
    const item = async (longitude: number, nearest = false) =>
      (await slice(array, { y: 0 }, { sel: { longitude }, nearest }).read()).data.at(0);
    expect(await item(-10.5)).toBe(233);
    expect(await item(361.5)).toBe(1);
    expect(await item(359.9, true)).toBe(0);
    expect(await item(-0.1, true)).toBe(0);
    expect(await item(359, true)).toBe(239);
    expect(await item(359.25, true)).toBe(0);
    await expect(item(-10)).rejects.toMatchObject({ code: "invalid-selection" });
  });

  it("are read in every way", async () => {
    const store = await made({ longitudes: tens, bounds: true });
    const array = await openArray({ store, path: "t" });
    const part = slice(array, "longitude=350..10,y=1:3");
    const expected = [1035, 1000, 1001, 2035, 2000, 2001];
    expect(await part.shape()).toEqual([2, 3]);
    expect(Array.from((await part.read()).data as Int32Array)).toEqual(expected);
    const bytes = new Int32Array(await new Response(part.bytes()).arrayBuffer());
    expect(Array.from(bytes)).toEqual(expected);
    expect(await cellsOf(part, 3)).toEqual(expected);
    const csv = (await bytesOf(formatSlice(part, "csv"))).toString().replaceAll(".0", "");
    expect(csv.split(/\r?\n/).slice(0, 4)).toEqual(["y,longitude,t", "0,-10,1035", "0,0,1000", "0,10,1001"]);
    const own = slice(await openArray({ store, path: "longitude" }), "longitude=350..10");
    expect(Array.from((await own.read()).data as Float64Array)).toEqual([-10, 0, 10]);
    expect(Array.from(new Float64Array(await new Response(own.bytes()).arrayBuffer()))).toEqual([-10, 0, 10]);
    expect(await cellsOf(own, 3)).toEqual([-10, 0, 10]);
    expect(await numbers(store, "longitude")).toEqual(tens);
  });

  it("say what they took, and that labels were shifted", async () => {
    const array = await openArray({ store: await made({ longitudes: globe }), path: "t" });
    const { taken } = await planSlice(array, { longitude: { labels: [350, 10] } });
    const indices = { dimension: "longitude", coordinate: "longitude", indices: [234, 247], count: 13 };
    expect(taken).toEqual([{ ...indices, labels: "350..10", first: "-9", last: "9", shifted: [-360] }]);
  });

  it("read a chunk that has both ends once", async () => {
    const store = await made({ longitudes: tens, chunks: [1, 36] });
    const array = await openArray({ store, path: "t" });
    expect((await planSlice(array, { longitude: { labels: [350, 10] } })).chunksRead).toBe(3);
    const options = { slice: "longitude=350..10", chunks: { y: 1, longitude: 1 } };
    const { plan, close } = await planFlow(await openGroup(store), new MemoryStore(), options);
    await close();
    expect(plan.jobs.find(({ path }) => path === "t")?.chunksRead).toBe(3);
  });

  it("are verified, and equal under both strategies, whatever the chunks", async () => {
    const run = fc.record({
      n: fc.constantFrom(4, 9, 12),
      isTurned: fc.boolean(),
      chunk: fc.integer({ min: 1, max: 40 }),
      from: fc.integer({ min: -179, max: 359 }),
      width: fc.integer({ min: 90, max: 359 }),
      by: fc.integer({ min: 1, max: 3 }),
      target: fc.integer({ min: 1, max: 12 }),
      strategy: fc.constantFrom("direct" as const, "staged" as const),
      isSharded: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ n, isTurned, chunk, from, width, by, target, strategy, isSharded }) => {
        const step = 360 / n;
        const longitudes = isTurned ? up(0, step, n).toReversed() : up(0, step, n);
        const shape = [2, Math.min(chunk, n)];
        const shards = isSharded && { shards: [4, (shape[1] ?? 1) * 2] };
        const store = await made({ longitudes, chunks: shape, ...shards });
        const how = { strategy, verify: "values", maxMemory: "4MB", chunks: { y: 2, longitude: target } };
        const found = await sliced(store, `longitude=${from}..${from + width}..${by}`, how);
        const wanted = longitudes
          .flatMap((one, item) => [-2, -1, 0, 1, 2].map((turns) => ({ label: one + 360 * turns, item })))
          .filter(({ label }) => label >= from && label <= from + width)
          .sort((a, b) => (isTurned ? b.label - a.label : a.label - b.label))
          .filter((_, i) => i % by === 0);
        expect(found.longitudes).toEqual(wanted.map(({ label }) => label));
        expect(found.items).toEqual(wanted.map(({ item }) => item));
        const last = (await numbers(found.target, "t")).slice(-wanted.length);
        expect(last).toEqual(wanted.map(({ item }) => 2000 + item));
      }),
      { numRuns: 6 },
    );
  });

  it("work in groups with coordinates of their own", async () => {
    const outer = await made({ longitudes: tens, dataType: "int16" });
    const store = await made({ longitudes: tens }, outer, "inner");
    const { target } = await sliced(store, "longitude=-10..10");
    expect(await numbers(target, "inner/longitude")).toEqual([-10, 0, 10]);
    expect(await numbers(target, "longitude")).toEqual([-10, 0, 10]);
  });

  it.each([
    ["355..358", tens, "Use 350.0 or 0.0."],
    ["-5..-2", tens, "Use 350.0 or 0.0."],
    ["355.0", tens, "Use 350.0 or 0.0, or the nearest one with --nearest (in code nearest: true)."],
    [
      "180..-180",
      half,
      "Use 179.5 or 180.5. 180 and -180 are the same meridian; -180..180 is the whole globe.",
    ],
    ["360..0", half, "Use 359.5 or 0.5. 360 and 0 are the same meridian; 0..360 is the whole globe."],
  ])("say which items are beside %s", async (range, longitudes, hint) => {
    await expect(sliced(await made({ longitudes }), `longitude=${range}`)).rejects.toMatchObject({
      code: "invalid-selection",
      message: expect.stringContaining(`has no item ${range}`),
      details: { hint },
    });
  });

  it("are none where a coordinate is not all around", async () => {
    const known = "It does not go all around the globe: it goes from 0 to 190.";
    const unknown =
      "It is not recognized as longitudes, because it has no units `degrees_east`: it goes from 0 to 350.";
    const regional = { longitudes: up(0, 10, 20) };
    const of = (units: string) => ({ longitudes: tens, attributes: { units, standard_name: "x" } });
    for (const [grid, range, hint] of [
      [regional, "150..10", "Write 10..150."],
      [regional, "-20..-10", expect.any(String)],
      [regional, "350..10", `${known} -10..10 may be meant.`],
      [of("1"), "350..10", `${unknown} -10..10 may be meant.`],
      [of("m"), "350..10", expect.any(String)],
    ] as const) {
      const error = { code: "invalid-selection", details: { hint } };
      await expect(sliced(await made(grid), `longitude=${range}`)).rejects.toMatchObject(error);
    }
  });
});
