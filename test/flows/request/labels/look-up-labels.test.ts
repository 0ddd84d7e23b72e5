// @module-tag slow
import { describe, expect, it } from "vitest";
import { slicesOf } from "../../../../src/flows/group-slices.ts";
import { planFlow } from "../../../../src/flows/request/flow.ts";
import { parseSlice } from "../../../../src/hierarchy/parse-slice.ts";
import {
  asStore,
  openArray,
  openGroup,
  planSlice,
  readDecoded,
  type SelOption,
  type SliceOption,
  slice,
  sliceTo,
} from "../../../../src/index.ts";
import { MemoryStore } from "../../../../src/stores/memory.ts";
import type { Store } from "../../../../src/stores/store.ts";
import { withRequestLog } from "../../../../src/stores/with/request-log.ts";
import { deferred } from "../../../streams/support.ts";
import { all, itemsOf } from "../../../support/consume.ts";
import { type GivenArray, given } from "../../../support/given.ts";

type Coordinate = Pick<GivenArray, "values" | "dataType" | "attributes" | "chunks" | "shape">;

interface Place {
  readonly zarrFormat?: "v2" | "v3";
  /** The group that the array is in, below the one of the coordinate. */
  readonly group?: string;
}

/** A store with a coordinate `x`, and an array `v` along it that holds its own indices. */
async function made(coordinate: Coordinate, { zarrFormat = "v3", group }: Place = {}): Promise<MemoryStore> {
  const { values } = coordinate;
  const shape = coordinate.shape ?? [(values as ArrayLike<unknown>).length];
  const x = { ...coordinate, shape, dimensionNames: ["x"] };
  const v = { shape, dataType: "int32", chunks: [10], dimensionNames: ["x"] };
  return given({ zarrFormat, arrays: { x, [group === undefined ? "v" : `${group}/v`]: v } });
}

/** Indices, or labels, of an array: as text, or as options. */
type Asked = string | { readonly slice?: unknown; readonly sel?: unknown; readonly nearest?: boolean };

/** The indices that a slice takes; one where it drops the dimension. */
async function taken(store: Store, asked: Asked, path = "v"): Promise<number | number[] | undefined> {
  const array = await openArray({ store, path });
  const { slice: option = {}, ...options } = typeof asked === "string" ? { slice: asked } : asked;
  const { data, shape } = await slice(array, option as SliceOption, options as { sel?: SelOption }).read();
  const found = Array.from(data as Int32Array);
  return shape.length === 0 ? found[0] : found;
}

/** Why something is refused: the code, the reason and the hint. */
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "not refused",
    (error) => `${error.code} | ${error.reason} | ${error.details.hint}`,
  );

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const time = (hours: string) => new Date(`2019-03-01T${hours}Z`);
const years = { dataType: "int64", shape: [4000], values: (i: number) => i };

const COORDINATES = {
  down: { dataType: "float64", shape: [19], values: (i) => 90 - 10 * i },
  up: { dataType: "float64", shape: [19], values: (i) => 10 * i - 90 },
  packed: {
    ...{ dataType: "int16", shape: [50], values: (i) => 2 * i - 50, chunks: [7] },
    attributes: { scale_factor: 0.25, add_offset: 10 },
  },
  float32: { dataType: "float32", shape: [11], values: (i) => i / 10 },
  unsorted: { dataType: "float64", values: [3, 1, 2, 2, 7, 1, 5], chunks: [2] },
  towns: { dataType: "string", values: ["Oslo", "Bergen", "Zürich", "Rom"], chunks: [3] },
  hourly: {
    ...{ dataType: "int64", shape: [2400], values: (i) => i, chunks: [24] },
    attributes: { units: "hours since 2019-02-28", calendar: "standard" },
  },
  "360 days": {
    ...{ dataType: "int64", shape: [720], values: (i) => i },
    attributes: { units: "days since 2000-01-01", calendar: "360_day" },
  },
  times: { dataType: "datetime64[s]", shape: [48], values: (i) => i * 3600 },
  months: {
    dataType: "int64",
    shape: [24],
    values: (i) => i,
    attributes: { units: "months since 2000-01-01" },
  },
  daily: { ...years, attributes: { units: "days since 2014-01-01" } },
  model: {
    ...{ dataType: "int64", shape: [999], values: (i) => 365 * i },
    attributes: { units: "days since 0001-01-01", calendar: "noleap" },
  },
  unitless: years,
  fortnights: { ...years, attributes: { units: "fortnights since 2014-01-01" } },
} satisfies Record<string, Coordinate>;
const { hourly } = COORDINATES;

describe("labels take", () => {
  it.each<[keyof typeof COORDINATES, ...(readonly [Asked, number | number[]])[]]>([
    [
      "down",
      ["x=45.0..61", [3, 4]],
      ["61..45.0", [3, 4]],
      ["x=80..500", [0, 1]],
      ["..-80", [17, 18]],
      ["x=70..", [0, 1, 2]],
      ["..", range(0, 19)],
      ["x=0..40..2", [5, 7, 9]],
      ["90.0", 0],
      ["x=-90.0", 18],
      ["3", 3],
      ["x=3:5", [3, 4]],
      ["x=60..30", [3, 4, 5, 6]],
      [{ sel: { x: [45, 61] } }, [3, 4]],
      [{ sel: { x: [null, -80] } }, [17, 18]],
      [{ sel: { x: 90 } }, 0],
      [{ sel: { x: [0, 40, 2] } }, [5, 7, 9]],
      [{ sel: { x: 10n } }, 8],
      // of two as near the larger
      [{ sel: { x: 44 }, nearest: true }, 5],
      [{ sel: { x: 45 }, nearest: true }, 4],
      [{ sel: { x: 94.9 }, nearest: true }, 0],
    ],
    ["packed", ["x=-2.0..-1.0", [1, 2, 3]], ["x=10.0", 25]],
    ["float32", ["x=0.7", 7], ["x=0.1..0.3", [1, 2, 3]]],
    ["unsorted", ["x=7.0", 4], ["x=2.0", [2, 3]], ["x=3..7", [0, 1, 2, 3, 4]]],
    ["towns", ["x=Zürich", 2], ["x=Bergen..Rom", [1, 2, 3]]],
    [
      "hourly",
      ["x=2019-03-01", range(24, 48)],
      ["x=2019-03-01:2019-03-02", range(24, 72)],
      ["x=2019-03-01T06:2019-03-01T08", [30, 31, 32]],
      ["x=2019-03-01..2019-03-02..24", [24, 48]],
      ["x=2019-03", range(24, 768)],
      ["x=2019-02", range(0, 24)],
      ["x=:2019-02-28T01", [0, 1]],
      ["x=2019-03-01T06:00", 30],
      ["x=2019-03-01T06", 30],
      ["x=2018..2019-02", range(0, 24)],
      [{ slice: "x=2019-03-01T06:40", nearest: true }, 31],
      [{ slice: "x=2019-03-01", nearest: true }, range(24, 48)],
      [{ sel: { x: [time("06:00"), "2019-03-01T08"] } }, [30, 31, 32]],
      [{ sel: { x: time("06:00") } }, 30],
      [{ slice: { x: { labels: [time("06:00"), time("08:00")] } } }, [30, 31, 32]],
      [{ sel: { x: [null, new Date("2019-02-28T02:59Z"), 2] } }, [0, 2]],
      [{ sel: { x: time("06:20") }, nearest: true }, 30],
    ],
    ["360 days", ["x=2000-02-30", 59], ["x=2000-02", range(30, 60)]],
    ["times", ["x=1970-01-02", range(24, 48)]],
    // indices: no years of the axis, marked, or numbers of code
    [
      "daily",
      ["x=3999", 3999],
      ["x=@2016", 2016],
      [{ slice: { x: 2016 } }, 2016],
      ["x=@2016:2018", [2016, 2017]],
      ["x=0:2016", range(0, 2016)],
      ["x=0050", 50],
      ["x=900", 900],
    ],
    ["model", ["x=50", 50], ["x=0050..0050", [49]], ["x=@0050", 50], ["x=@900", 900]],
    ["unitless", ["x=2016", 2016]],
    ["fortnights", ["x=2016", 2016]],
  ])("those of %s", async (name, ...rows) => {
    for (const zarrFormat of name === "hourly" || name === "packed"
      ? (["v2", "v3"] as const)
      : ["v3" as const]) {
      const store = await made(COORDINATES[name], { zarrFormat });
      for (const [asked, expected] of rows)
        expect([asked, await taken(store, asked)]).toEqual([asked, expected]);
    }
  });
});

describe("labels are refused", () => {
  const outside = /^invalid-selection \| .*goes from -90 to 90.* \| Use labels from -90 to 90\.$/;
  const date = time("06:00");
  const invalid = new Date("soon");
  const noDate =
    /^invalid-selection .*the coordinate x cannot be looked up by an invalid Date.*2019-03-01T12:00Z/;
  const noLabel = (kind: string) =>
    new RegExp(`^invalid-selection .*has no label 2019-03-01T06:00:00.000Z.* \\| Its labels are ${kind}\\.$`);
  const year = (from: string, index: string) =>
    new RegExp(`^invalid-selection .* \\| Write ${from.replaceAll(".", "\\.")} .*or ${index} for`);

  it.each<[keyof typeof COORDINATES, ...(readonly [Asked, RegExp | string])[]]>([
    [
      "down",
      ["x=91.0", outside],
      ["x=100..200", outside],
      ["x=..-95", outside],
      ...[[1], [1, 2, 3, 4], [0, 50, 0], [0, 50, 1.5]].map(
        (x) => [{ sel: { x } }, /^invalid-selection/] as const,
      ),
      [{ sel: { x: 95.1 }, nearest: true }, /^invalid-selection/],
      ["x=44.0", "invalid-selection | the coordinate x has no item 44.0 | Use 40.0 or 50.0, or the nearest"],
      [{ sel: { x: date } }, noLabel("numbers")],
      [{ sel: { x: [null, date, 2] } }, noLabel("numbers")],
      [{ slice: { x: 1 }, sel: { x: 90 } }, /^invalid-option/],
      [{ slice: [1], sel: { x: 90 } }, /^invalid-option/],
    ],
    ["up", [{ slice: { x: { labels: [60, 30, 2] } } }, /Write 30\.\.60\.\.2\.$/]],
    [
      "unsorted",
      ["x=1.0", /items that are not consecutive/],
      ["x=7..3", /in reverse order/],
      ["x=4.0", /Its values are 3, 1, 2, 2, 7, \.\.\.\.$/],
    ],
    [
      "towns",
      ["x=Paris", /the coordinate x has no item Paris \| Its values are Oslo, Bergen, Zürich, Rom\.$/],
      [{ sel: { x: date } }, noLabel("texts")],
      [{ sel: { x: [date, null] } }, noLabel("texts")],
    ],
    [
      "hourly",
      [{ sel: { x: time("06:20") } }, /has no item 2019-03-01T06:20:00\.000Z/],
      [{ slice: { x: date } }, /^invalid-selection .*Dates are labels/],
      [{ slice: { x: [date, null] } }, /^invalid-selection .*Dates are labels/],
      [{ sel: { x: invalid } }, noDate],
      [{ sel: { x: [invalid, null] } }, noDate],
      [{ sel: { x: [null, invalid] } }, noDate],
      [{ sel: { x: "soon" } }, /^invalid-selection .* \| Its labels are dates such as 2019-03-01T12:00\.$/],
      [{ sel: { x: 5 } }, /^invalid-selection .* \| Its labels are dates such as 2019-03-01T12:00\.$/],
      ["x=2020..2019", /increases, so nothing lies from 2020 to 2019 \| Write 2019\.\.2020\.$/],
    ],
    ["360 days", ["x=2000-01-31", /360_day/]],
    ["months", ["x=2000-01", /^unsupported-operation/]],
    // whole numbers along times that may be years
    [
      "daily",
      ["x=2016", year("2016..2016", "@2016")],
      ["2016", year("2016..2016", "@2016")],
      ["x=2016:2018", year("2016..2018", "@2016:2018")],
      ["x=2016:", year("2016..", "@2016:")],
      ["x=:2018", year("..2018", "@:2018")],
      ["x=2014:2024:2", year("2014..2024", "@2014:2024:2")],
    ],
    [
      "model",
      ["x=0050", year("0050..0050", "@50")],
      ["x=900", year("0900..0900", "@900")],
      ["x=0050:0060", year("0050..0060", "@50:60")],
      ["x=100:", year("0100..", "@100:")],
    ],
  ])("of %s, with what may be meant", async (name, ...rows) => {
    const store = await made(COORDINATES[name]);
    for (const [asked, expected] of rows) {
      const words = await refusal(taken(store, asked));
      if (typeof expected === "string") expect(words).toContain(expected);
      else expect(words).toMatch(expected);
      if (name !== "daily" || !String(asked).includes("=")) continue;
      const target = new MemoryStore();
      expect(await refusal(sliceTo(await openGroup(store), target, { slice: `${asked}` }))).toMatch(expected);
    }
  });

  it("where there is no coordinate", async () => {
    const u = { shape: [4], dataType: "int8" };
    const store = await given({ arrays: { v: { ...u, dimensionNames: ["y"] }, u } });
    expect(await refusal(taken(store, "y=1.5"))).toMatch(/^invalid-selection .*No 1-D array `y` exists/);
    expect(await refusal(taken(store, "1.5", "u"))).toMatch(/^invalid-selection/);
  });
});

it("dates of JavaScript are labels in all that takes labels", async () => {
  const store = await made(hourly);
  const array = { store, path: "v" };
  const outcomes = async (sel: SelOption) => {
    const target = new MemoryStore();
    await sliceTo(store, target, { sel, slice: {} });
    const read = (await all(readDecoded(array, {}, { sel }))).map(({ region }) => region.shape);
    const shown = await itemsOf(await asStore(store, { sel }), "v");
    return [(await planSlice(array, {}, { sel })).shape, read, await itemsOf(target, "v"), shown];
  };
  const [from, to] = ["06:00", "08:00"];
  const written = { x: [`2019-03-01T${from}`, `2019-03-01T${to}`] } as const;
  expect(await outcomes({ x: [time(from), time(to)] })).toEqual(await outcomes(written));
});

describe("the look-up of labels", () => {
  /** Keys of the coordinate's chunks that a slice reads, each as often as it is read. */
  async function reads(coordinate: Coordinate, text: string): Promise<string[]> {
    const keys: string[] = [];
    const store = withRequestLog(await made(coordinate), ({ operation, key }) => {
      if (operation.startsWith("get") && key.startsWith("x/c/")) keys.push(key);
    });
    const part = slice(await openArray({ store, path: "v" }), text);
    await part.shape();
    await part.read();
    for await (const _ of part.chunks());
    return keys;
  }
  const mixed = { dataType: "float64", shape: [1000], values: (i: number) => (i * 7) % 1000, chunks: [100] };

  it("reads few chunks of a sorted coordinate, and all of another, each once for all uses of a slice", async () => {
    const sorted = { ...mixed, shape: [100_000], values: (i: number) => i / 4 };
    const keys = await reads(sorted, "x=5000.25..5010");
    expect(keys.length).toBeLessThanOrEqual(2 + 2 * Math.log2(1000));
    expect(new Set(keys).size).toBe(keys.length);
    const others = await reads(mixed, "x=21.0");
    expect(new Set(others).size).toBe(10);
    expect(others.length).toBeLessThanOrEqual(20);
  });

  it("stays within the budget", async () => {
    const array = await openArray({ store: await made(mixed), path: "v" });
    const planned = planSlice(array, { x: { labels: 21 } }, { maxMemory: 10_000 });
    await expect(planned).rejects.toMatchObject({ code: "resource-limit", details: { path: "x" } });
  });

  it("takes the nearest coordinate above", async () => {
    const store = await made(hourly, { group: "a" });
    expect(await taken(store, "x=2019-03-01T06", "a/v")).toBe(30);
    expect(Number(await taken(store, "x=2019-03-01T06", "x"))).toBe(30);
  });

  it("asks for the coordinates of several dimensions side by side", async () => {
    const axis = (name: string, length: number, step: number): GivenArray => ({
      ...{ dataType: "float64", shape: [length], dimensionNames: [name], values: (i) => step * i },
    });
    const t = { dataType: "int16", shape: [3, 4], dimensionNames: ["y", "x"] };
    const store = await given({ zarrFormat: "v3", arrays: { t, y: axis("y", 3, 10), x: axis("x", 4, 5) } });
    const array = await openArray({ store, path: "t" });
    const asked = new Set<string>();
    const both = deferred();
    const get = store.get.bind(store);
    store.get = async (key, ...options) => {
      asked.add(key);
      if (asked.has("x/zarr.json") && asked.has("y/zarr.json")) both.resolve();
      if (key === "y/zarr.json") await both.promise;
      return get(key, ...options);
    };
    const { data } = await array.slice({}, { sel: { y: 20, x: 15 } }).read();
    expect([...(data as Int16Array)]).toEqual([11]);
  });
});

it("what a slice took is said, with labels where they can be read", async () => {
  const store = await made(hourly);
  const array = await openArray({ store, path: "v" });
  const plannedBy = async (option: SliceOption | string) => {
    const { close, taken } = await planFlow(await openGroup(store), new MemoryStore(), { slice: option });
    const said = await taken();
    await close();
    return said;
  };
  const steps = { dimension: "x", coordinate: "x", indices: [-48, null, 2], count: 24 };
  const ends = { first: "2019-06-06T00:00:00", last: "2019-06-07T22:00:00" };
  expect(await plannedBy({ x: [-48, null, 2] })).toEqual([{ ...steps, ...ends }]);
  expect((await planSlice(array, [[-48, null, 2]])).taken).toEqual([{ ...steps, ...ends }]);
  const fifth = { count: 1, indices: 5, first: "2019-02-28T05:00:00" };
  expect(await slice(array, "x=5").taken()).toMatchObject([fifth]);
  const plan = await planSlice(array, { x: { labels: ["2019-03-01", "2019-03-02"] } });
  expect(plan.shape).toEqual([48]);
  const days = { dimension: "x", labels: "2019-03-01..2019-03-02", coordinate: "x", indices: [24, 72] };
  const hours = { count: 48, first: "2019-03-01T00:00:00", last: "2019-03-02T23:00:00" };
  expect(plan.taken).toEqual([{ ...days, ...hours }]);
  const bare = { dimension: "x", indices: [0, 3], count: 3 };
  const unknown = await openArray({ store: await made(COORDINATES.fortnights), path: "v" });
  expect(await slice(unknown, { x: [0, 3] }).taken()).toEqual([bare]);
  await store.set("x/c/0", new Uint8Array(3));
  expect(await slice(array, { x: [0, 3] }).taken()).toMatchObject([bare]);
});

it("names that no dimension has are explained by what was meant", async () => {
  const along = (...dimensionNames: string[]): GivenArray => ({
    ...{ shape: dimensionNames.map(() => 3), dataType: "int32", dimensionNames },
  });
  const arrays = { sst: along("longitude", "j", "i"), latitude: along("j", "i") };
  const store = await given({ zarrFormat: "v3", arrays });
  const group = await openGroup(store);
  const sst = await openArray({ store, path: "sst" });
  for (const [name, hint] of [
    ["latitude", "`latitude` is 2-d over (j, i): select by j, i."],
    ["lon", "Did you mean `longitude`?"],
  ] as const) {
    for (const range of ["=1", "=1:2", "=1..2", "=1.5"]) {
      const [text, error] = [`${name}${range}`, { details: { hint } }];
      for (const source of [group, sst])
        await expect(sliceTo(source, new MemoryStore(), { slice: text })).rejects.toMatchObject(error);
      await expect(slice(sst, text).read()).rejects.toMatchObject(error);
      await expect(planSlice(sst, parseSlice(text))).rejects.toMatchObject(error);
      const expected = expect.objectContaining(name === "lon" ? error : {});
      expect(() => slicesOf([sst], text, {})).toThrowError(expected);
    }
  }
});

describe("labels of targets", () => {
  it("slice every array of a group that has the dimension", async () => {
    for (const zarrFormat of ["v2", "v3"] as const) {
      const source = await openGroup(await made(hourly, { zarrFormat, group: "a" }));
      const target = new MemoryStore();
      await sliceTo(source, target, { sel: { x: "2019-03-01" } });
      expect(await taken(target, "x=2019-03-01T05", "a/v")).toBe(29);
      expect((await openArray({ store: target, path: "x" })).shape).toEqual([24]);
    }
  });

  it("slice one array", async () => {
    const source = await openArray({ store: await made(hourly), path: "v" });
    const [target, alone] = [new MemoryStore(), new MemoryStore()];
    await sliceTo(source, target, { slice: "x=2019-03-01T06" });
    expect(await taken(target, "x=2019-03-01T06")).toEqual(30);
    await sliceTo(source, alone, { slice: "x=2019-03-01T06", companions: false });
    expect(await itemsOf(alone, "")).toEqual([30]);
  });

  it("must mean the same in coordinates of groups below", async () => {
    const x: GivenArray = { shape: [9], dataType: "int16", dimensionNames: ["x"] };
    const source = await given({ arrays: { "a/x": x, "b/x": { ...x, values: (i) => 2 + i } } });
    const reason = "3..4 along dimension x is 3:5 in a/x, and 1:3 in b/x";
    const sliced = sliceTo(source, new MemoryStore(), { sel: { x: [3, 4] } });
    await expect(sliced).rejects.toMatchObject({ code: "invalid-selection", reason });
  });
});
