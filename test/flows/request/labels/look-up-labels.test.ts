// @module-tag slow
import { describe, expect, it } from "vitest";
import { planFlow } from "../../../../src/flows/request/flow.ts";
import { slicesOf } from "../../../../src/flows/slabs/group-slices.ts";
import { parseSlice } from "../../../../src/hierarchy/parse-slice.ts";
import type { LabelOptions } from "../../../../src/hierarchy/slice-labels.ts";
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
import { given } from "../../../support/given.ts";

interface Coordinate {
  readonly values: Float64Array | Float32Array | BigInt64Array | Int16Array | readonly string[];
  readonly dataType: "float64" | "float32" | "int64" | "int16" | "string" | "datetime64[s]";
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly chunk?: number;
}

interface Place {
  readonly zarrFormat?: "v2" | "v3";
  /** The group that the array is in, below the one of the coordinate. */
  readonly group?: string;
}

/** A store with a coordinate `x`, and an array `v` along it that holds its own indices. */
async function made(coordinate: Coordinate, { zarrFormat = "v3", group }: Place = {}): Promise<MemoryStore> {
  const { values, dataType, attributes = {}, chunk = values.length } = coordinate;
  const along = { shape: [values.length], dimensionNames: ["x"] };
  const x = { ...along, dataType, chunks: [chunk], attributes, values };
  const v = { ...along, dataType: "int32", chunks: [10] };
  return given({ zarrFormat, arrays: { x, [group === undefined ? "v" : `${group}/v`]: v } });
}

/** The indices that a slice takes; one where it drops the dimension. */
async function taken(
  store: Store,
  option: SliceOption | string,
  options: LabelOptions = {},
  path = "v",
): Promise<number | number[] | undefined> {
  const array = await openArray({ store: store, path });
  const { data, shape } = await slice(array, option, options).read();
  const found = Array.from(data as Int32Array);
  return shape.length === 0 ? found[0] : found;
}

/** The shape of each chunk of a stream. */
async function shapesOf(chunks: ReturnType<typeof readDecoded>): Promise<(readonly number[])[]> {
  const shapes: (readonly number[])[] = [];
  for await (const { region } of chunks) shapes.push(region.shape);
  return shapes;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const hours = { units: "hours since 2019-02-28", calendar: "standard" };
const hourly: Coordinate = {
  values: BigInt64Array.from({ length: 2400 }, (_, i) => BigInt(i)),
  dataType: "int64",
  attributes: hours,
  chunk: 24,
};
const down: Coordinate = {
  values: Float64Array.from({ length: 19 }, (_, i) => 90 - 10 * i),
  dataType: "float64",
};

describe("labels of numbers", () => {
  it.each([
    ["45.0..61", [3, 4]],
    ["61..45.0", [3, 4]],
    ["80..500", [0, 1]],
    ["..-80", [17, 18]],
    ["70..", [0, 1, 2]],
    ["..", range(0, 19)],
    ["0..40..2", [5, 7, 9]],
    ["90.0", 0],
    ["-90.0", 18],
    ["3", 3],
    ["3:5", [3, 4]],
  ])("take %s where values go down", async (text, expected) => {
    const store = await made(down);
    expect(await taken(store, `x=${text}`)).toEqual(expected);
    expect(await taken(store, text)).toEqual(expected);
  });

  it.each([
    [{ x: [45, 61] }, [3, 4]],
    [{ x: [null, -80] }, [17, 18]],
    [{ x: 90 }, 0],
    [{ x: [0, 40, 2] }, [5, 7, 9]],
    [{ x: 10n }, 8],
  ] as const)("take sel, case %#", async (sel, expected) => {
    expect(await taken(await made(down), {}, { sel })).toEqual(expected);
  });

  it("are one label, or two and a step", async () => {
    const store = await made(down);
    for (const labels of [[1], [1, 2, 3, 4], [0, 50, 0], [0, 50, 1.5]]) {
      const sel = { x: labels } as unknown as NonNullable<LabelOptions["sel"]>;
      await expect(taken(store, {}, { sel })).rejects.toMatchObject({ code: "invalid-selection" });
    }
  });

  it("are nearest where that is asked for, the larger of two as near", async () => {
    const store = await made(down);
    const near = (x: number) => taken(store, {}, { sel: { x }, nearest: true });
    expect(await near(44)).toBe(5);
    expect(await near(45)).toBe(4);
    expect(await near(94.9)).toBe(0);
    await expect(near(95.1)).rejects.toMatchObject({ code: "invalid-selection" });
    await expect(taken(store, "x=44.0")).rejects.toMatchObject({
      code: "invalid-selection",
      reason: "the coordinate x has no item 44.0",
      details: {
        path: "x",
        hint: "Take 40.0 or 50.0, or the nearest one with --nearest (in code nearest: true).",
      },
    });
  });

  it.each(["x=91.0", "x=100..200", "x=..-95"])("say the range where %s is outside", async (text) => {
    await expect(taken(await made(down), text)).rejects.toMatchObject({
      code: "invalid-selection",
      reason: expect.stringContaining("goes from -90 to 90"),
      details: { hint: "Give labels from -90 to 90." },
    });
  });

  it("are decoded first where they are packed", async () => {
    const packed = { scale_factor: 0.25, add_offset: 10 };
    const values = Int16Array.from({ length: 50 }, (_, i) => 2 * i - 50);
    for (const zarrFormat of ["v2", "v3"] as const) {
      const store = await made({ values, dataType: "int16", attributes: packed, chunk: 7 }, { zarrFormat });
      expect(await taken(store, "x=-2.0..-1.0")).toEqual([1, 2, 3]);
      expect(await taken(store, "x=10.0")).toBe(25);
    }
  });

  it("are rounded to float32 where the coordinate is", async () => {
    const values = Float32Array.from({ length: 11 }, (_, i) => i / 10);
    const store = await made({ values, dataType: "float32" });
    expect(await taken(store, "x=0.7")).toBe(7);
    expect(await taken(store, "x=0.1..0.3")).toEqual([1, 2, 3]);
  });

  it("are looked for in all of a coordinate that is not sorted", async () => {
    const store = await made({ values: Float64Array.of(3, 1, 2, 2, 7, 1, 5), dataType: "float64", chunk: 2 });
    expect(await taken(store, "x=7.0")).toBe(4);
    expect(await taken(store, "x=2.0")).toEqual([2, 3]);
    expect(await taken(store, "x=3..7")).toEqual([0, 1, 2, 3, 4]);
    await expect(taken(store, "x=1.0")).rejects.toThrow("items that are not in a row");
    await expect(taken(store, "x=7..3")).rejects.toThrow("the other way round");
    await expect(taken(store, "x=4.0")).rejects.toMatchObject({
      details: { hint: "Its values are 3, 1, 2, 2, 7, ...." },
    });
  });
});

describe("labels of texts", () => {
  it("are equal, or between two items", async () => {
    const store = await made({ values: ["Oslo", "Bergen", "Zürich", "Rom"], dataType: "string", chunk: 3 });
    expect(await taken(store, "x=Zürich")).toBe(2);
    expect(await taken(store, "x=Bergen..Rom")).toEqual([1, 2, 3]);
    await expect(taken(store, "x=Paris")).rejects.toMatchObject({
      reason: "the coordinate x has no item Paris",
      details: { hint: "Its values are Oslo, Bergen, Zürich, Rom." },
    });
  });
});

describe("labels of times", () => {
  it.each([
    ["2019-03-01", range(24, 48)],
    ["2019-03-01:2019-03-02", range(24, 72)],
    ["2019-03-01T06:2019-03-01T08", [30, 31, 32]],
    ["2019-03-01..2019-03-02..24", [24, 48]],
    ["2019-03", range(24, 768)],
    ["2019-02", range(0, 24)],
    [":2019-02-28T01", [0, 1]],
    ["2019-03-01T06:00", 30],
    ["2019-03-01T06", 30],
    ["2018..2019-02", range(0, 24)],
  ])("take %s of hours", async (text, expected) => {
    for (const zarrFormat of ["v2", "v3"] as const) {
      expect(await taken(await made(hourly, { zarrFormat }), `x=${text}`)).toEqual(expected);
    }
  });

  it("are dates of JavaScript too", async () => {
    const sel = { x: [new Date("2019-03-01T06:00Z"), "2019-03-01T08"] } as const;
    expect(await taken(await made(hourly), {}, { sel })).toEqual([30, 31, 32]);
    expect(await taken(await made(hourly), {}, { sel: { x: new Date("2019-03-01T06:00Z") } })).toBe(30);
  });

  it("are dates of JavaScript in all that takes labels", async () => {
    const store = await made(hourly);
    const array = { store, path: "v" };
    const [from, to] = ["2019-03-01T06:00", "2019-03-01T08:00"];
    const dated = { x: [new Date(`${from}Z`), new Date(`${to}Z`)] } as const;
    const written = { x: [from, to] } as const;
    const outcomes = async (sel: SelOption) => {
      const target = new MemoryStore();
      await sliceTo(store, target, { sel, slice: {} });
      const made = await asStore(store, { sel });
      const sliced = await openArray({ store: target, path: "v" });
      const shown = await openArray({ store: made, path: "v" });
      return [
        (await planSlice(array, {}, { sel })).shape,
        await shapesOf(readDecoded(array, {}, { sel })),
        [...(await sliced.slice().read()).data],
        [...(await shown.slice().read()).data],
      ];
    };
    expect(await outcomes(dated)).toEqual(await outcomes(written));
    expect(await taken(store, { x: { labels: dated.x } })).toEqual([30, 31, 32]);
    expect(await taken(store, {}, { sel: { x: [null, new Date("2019-02-28T02:59Z"), 2] } })).toEqual([0, 2]);
    const between = { x: new Date("2019-03-01T06:20Z") };
    expect(await taken(store, {}, { sel: between, nearest: true })).toBe(30);
    await expect(taken(store, {}, { sel: between })).rejects.toThrow("has no item 2019-03-01T06:20:00.000Z");
  });

  it("are no dates of JavaScript on an axis of numbers or of texts, nor among indices", async () => {
    const date = new Date("2019-03-01T06:00Z");
    const texts = await made({ values: [1, 2, 3].map(String), dataType: "string" });
    const numbers = await made({ values: new Float64Array([1, 2]), dataType: "float64" });
    for (const [store, hint] of [
      [texts, "Its labels are texts."],
      [numbers, "Its labels are numbers."],
    ] as const) {
      for (const x of [date, [date, null], [null, date, 2]] as const) {
        await expect(taken(store, {}, { sel: { x } })).rejects.toMatchObject({
          code: "invalid-selection",
          message: expect.stringContaining("has no label 2019-03-01T06:00:00.000Z"),
          details: { path: "x", hint },
        });
      }
    }
    for (const x of [date, [date, null]]) {
      await expect(taken(await made(hourly), { x } as unknown as SliceOption)).rejects.toMatchObject({
        code: "invalid-selection",
        details: { hint: expect.stringContaining("Dates are labels") },
      });
    }
  });

  it("are no invalid dates", async () => {
    const invalid = new Date("soon");
    for (const x of [invalid, [invalid, null], [null, invalid]] as const) {
      await expect(taken(await made(hourly), {}, { sel: { x } })).rejects.toMatchObject({
        code: "invalid-selection",
        message: expect.stringContaining("the coordinate x cannot be looked up by an invalid Date"),
        details: { path: "x", hint: expect.stringContaining("2019-03-01T12:00Z") },
      });
    }
  });

  it("are dates of the coordinate's calendar", async () => {
    const values = BigInt64Array.from({ length: 720 }, (_, i) => BigInt(i));
    const attributes = { units: "days since 2000-01-01", calendar: "360_day" };
    const store = await made({ values, dataType: "int64", attributes });
    expect(await taken(store, "x=2000-02-30")).toBe(59);
    expect(await taken(store, "x=2000-02")).toEqual(range(30, 60));
    await expect(taken(store, "x=2000-01-31")).rejects.toMatchObject({
      details: { hint: expect.stringContaining("360_day") },
    });
  });

  it("are found in arrays of times", async () => {
    const values = BigInt64Array.from({ length: 48 }, (_, i) => BigInt(i * 3600));
    const store = await made({ values, dataType: "datetime64[s]" });
    expect(await taken(store, "x=1970-01-02")).toEqual(range(24, 48));
  });

  it("are nearest to the second", async () => {
    const store = await made(hourly);
    expect(await taken(store, "x=2019-03-01T06:40", { nearest: true })).toBe(31);
    expect(await taken(store, "x=2019-03-01", { nearest: true })).toEqual(range(24, 48));
  });

  it("are neither other words nor numbers", async () => {
    const store = await made(hourly);
    for (const sel of [{ x: "soon" }, { x: 5 }]) {
      await expect(taken(store, {}, { sel })).rejects.toMatchObject({
        code: "invalid-selection",
        details: { path: "x", hint: "Its labels are dates such as 2019-03-01T12:00." },
      });
    }
  });

  it("are not looked up by units that are not known", async () => {
    const store = await made({ ...hourly, attributes: { units: "months since 2000-01-01" } });
    await expect(taken(store, "x=2000-01")).rejects.toMatchObject({
      code: "unsupported-operation",
      details: { path: "x" },
    });
  });
});

describe("the look-up of labels", () => {
  /** Keys of the coordinate's chunks that a slice reads, each as often as it is read. */
  async function reads(coordinate: Coordinate, text: string): Promise<string[]> {
    const keys: string[] = [];
    const store = withRequestLog(await made(coordinate), ({ operation, key }) => {
      if (operation.startsWith("get") && key.startsWith("x/c/")) keys.push(key);
    });
    const part = slice(await openArray({ store: store, path: "v" }), text);
    await part.shape();
    await part.read();
    for await (const _ of part.chunks());
    return keys;
  }

  it("reads few chunks of a sorted coordinate, each once for all uses of a slice", async () => {
    const values = Float64Array.from({ length: 100_000 }, (_, i) => i / 4);
    const keys = await reads({ values, dataType: "float64", chunk: 100 }, "x=5000.25..5010");
    expect(keys.length).toBeLessThanOrEqual(2 + 2 * Math.log2(1000));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("reads all of one that is not sorted, once", async () => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => (i * 7) % 1000);
    const keys = await reads({ values, dataType: "float64", chunk: 100 }, "x=21.0");
    expect(new Set(keys).size).toBe(10);
    expect(keys.length).toBeLessThanOrEqual(20);
  });

  it("stays within the budget", async () => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => (i * 7) % 1000);
    const store = await made({ values, dataType: "float64", chunk: 100 });
    const array = await openArray({ store: store, path: "v" });
    await expect(planSlice(array, { x: { labels: 21 } }, { maxMemory: 10_000 })).rejects.toMatchObject({
      code: "resource-limit",
      details: { path: "x" },
    });
  });

  it("takes the nearest coordinate above", async () => {
    const store = await made(hourly, { group: "a" });
    expect(await taken(store, "x=2019-03-01T06", {}, "a/v")).toBe(30);
    expect(Number(await taken(store, "x=2019-03-01T06", {}, "x"))).toBe(30);
  });

  it("says where there is none", async () => {
    const u = { shape: [4], dataType: "int8" };
    const store = await given({ arrays: { v: { ...u, dimensionNames: ["y"] }, u } });
    await expect(taken(store, "y=1.5")).rejects.toMatchObject({
      code: "invalid-selection",
      details: { hint: expect.stringContaining("no 1-d array `y`") },
    });
    await expect(taken(store, "1.5", {}, "u")).rejects.toMatchObject({ code: "invalid-selection" });
  });

  it("takes one of indices and labels for a dimension", async () => {
    const store = await made(down);
    await expect(taken(store, { x: 1 }, { sel: { x: 90 } })).rejects.toMatchObject({
      code: "invalid-option",
    });
    await expect(taken(store, [1], { sel: { x: 90 } })).rejects.toMatchObject({ code: "invalid-option" });
  });
});

describe("whole numbers along times", () => {
  const yearly = {
    values: BigInt64Array.from({ length: 4000 }, (_, i) => BigInt(i)),
    dataType: "int64",
  } as const;
  const daily: Coordinate = { ...yearly, attributes: { units: "days since 2014-01-01" } };

  it.each([
    ["x=2016", "2016..2016", "@2016"],
    ["2016", "2016..2016", "@2016"],
    ["x=2016:2018", "2016..2018", "@2016:2018"],
    ["x=2016:", "2016..", "@2016:"],
    ["x=:2018", "..2018", "@:2018"],
    ["x=2014:2024:2", "2014..2024", "@2014:2024:2"],
  ])("%s may be a year", async (text, year, index) => {
    const store = await made(daily);
    const error = {
      code: "invalid-selection",
      details: {
        hint: expect.stringMatching(new RegExp(`^Write ${year.replaceAll(".", "\\.")} .*or ${index} for`)),
      },
    };
    await expect(taken(store, text)).rejects.toMatchObject(error);
    if (!text.includes("=")) return;
    const target = new MemoryStore();
    await expect(sliceTo(await openGroup(store), target, { slice: text })).rejects.toMatchObject(error);
  });

  it.each([
    ["x=0050", "0050..0050", "@50"],
    ["x=900", "0900..0900", "@900"],
    ["x=0050:0060", "0050..0060", "@50:60"],
    ["x=100:", "0100..", "@100:"],
  ])("%s may be a year of a model", async (text, year, index) => {
    const attributes = { units: "days since 0001-01-01", calendar: "noleap" };
    const values = BigInt64Array.from({ length: 999 }, (_, i) => BigInt(365 * i));
    const store = await made({ values, dataType: "int64", attributes });
    const hint = expect.stringMatching(new RegExp(`^Write ${year.replaceAll(".", "\\.")} .*or ${index} for`));
    await expect(taken(store, text)).rejects.toMatchObject({ code: "invalid-selection", details: { hint } });
    expect(await taken(store, "x=50")).toBe(50);
    expect(await taken(store, "x=0050..0050")).toEqual([49]);
    expect(await taken(store, text.replace("=", "=@"))).toBeDefined();
    expect(await taken(await made(daily), text)).toBeDefined();
  });

  it("are indices where they are no years of it, marked, or numbers of code", async () => {
    const store = await made(daily);
    expect(await taken(store, "x=3999")).toBe(3999);
    expect(await taken(store, "x=@2016")).toBe(2016);
    expect(await taken(store, { x: 2016 })).toBe(2016);
    expect(await taken(store, "x=@2016:2018")).toEqual([2016, 2017]);
    expect(await taken(store, "x=0:2016")).toHaveLength(2016);
    expect(await taken(await made({ ...yearly }), "x=2016")).toBe(2016);
    const unknown = { ...yearly, attributes: { units: "fortnights since 2014-01-01" } };
    expect(await taken(await made(unknown), "x=2016")).toBe(2016);
  });
});

describe("ranges that are written from the larger label", () => {
  it("are refused where values go up, and taken where they go down", async () => {
    await expect(taken(await made(hourly), "x=2020..2019")).rejects.toMatchObject({
      code: "invalid-selection",
      message: expect.stringContaining("goes up, so nothing lies from 2020 to 2019"),
      details: { hint: "Write 2019..2020." },
    });
    const up = { ...down, values: down.values.toReversed() } as Coordinate;
    await expect(taken(await made(up), { x: { labels: [60, 30, 2] } })).rejects.toMatchObject({
      details: { hint: "Write 30..60..2." },
    });
    expect(await taken(await made(down), "x=60..30")).toEqual([3, 4, 5, 6]);
    expect(await taken(await made(down), "x=30..60")).toEqual([3, 4, 5, 6]);
  });
});

describe("what a slice took", () => {
  it("is said of indices too, with their labels", async () => {
    const store = await made(hourly);
    const planned = await planFlow(await openGroup(store), new MemoryStore(), {
      slice: { x: [-48, null, 2] },
    });
    const expected = {
      dimension: "x",
      coordinate: "x",
      indices: [-48, null, 2],
      count: 24,
      first: "2019-06-06T00:00:00",
      last: "2019-06-07T22:00:00",
    };
    expect(await planned.taken()).toEqual([expected]);
    await planned.close();
    const array = await openArray({ store, path: "v" });
    expect((await planSlice(array, [[-48, null, 2]])).taken).toEqual([expected]);
    expect(await slice(array, "x=5").taken()).toMatchObject([
      { count: 1, indices: 5, first: "2019-02-28T05:00:00" },
    ]);
  });

  it("is said by indices where there are no labels, or none that can be read", async () => {
    const unknown = await made({ ...hourly, attributes: { units: "fortnights since 2014" } });
    const array = await openArray({ store: unknown, path: "v" });
    expect(await slice(array, { x: [0, 3] }).taken()).toEqual([
      { dimension: "x", indices: [0, 3], count: 3 },
    ]);
    const broken = await made(hourly);
    await broken.set("x/c/0", new Uint8Array(3));
    const whole = await openArray({ store: broken, path: "v" });
    expect(await slice(whole, { x: [0, 3] }).taken()).toMatchObject([
      { dimension: "x", indices: [0, 3], count: 3 },
    ]);
  });
});

describe("names that no dimension has", () => {
  it("are explained by the dimension that was meant, or by those of a coordinate that has several", async () => {
    const along = (...dimensionNames: string[]) =>
      ({ shape: dimensionNames.map(() => 3), dataType: "int32", dimensionNames }) as const;
    const arrays = { sst: along("longitude", "j", "i"), latitude: along("j", "i") };
    const store = await given({ zarrFormat: "v3", arrays });
    const group = await openGroup(store);
    const sst = await openArray({ store, path: "sst" });
    const several = { details: { hint: "`latitude` is 2-d over (j, i): select by j, i." } };
    const meant = { details: { hint: "Did you mean `longitude`?" } };
    for (const [name, error] of [
      ["latitude", several],
      ["lon", meant],
    ] as const) {
      for (const range of ["=1", "=1:2", "=1..2", "=1.5"]) {
        const text = `${name}${range}`;
        for (const source of [group, sst])
          await expect(sliceTo(source, new MemoryStore(), { slice: text })).rejects.toMatchObject(error);
        await expect(slice(sst, text).read()).rejects.toMatchObject(error);
        await expect(planSlice(sst, parseSlice(text))).rejects.toMatchObject(error);
        expect(() => slicesOf([sst], text, {})).toThrowError(
          expect.objectContaining(name === "lon" ? meant : {}),
        );
      }
    }
  });
});

describe("labels in plans and targets", () => {
  it("are indices in the plan of a slice, which says what they were", async () => {
    const array = await openArray({ store: await made(hourly), path: "v" });
    const plan = await planSlice(array, { x: { labels: ["2019-03-01", "2019-03-02"] } });
    expect(plan.shape).toEqual([48]);
    expect(plan.taken).toEqual([
      {
        dimension: "x",
        labels: "2019-03-01..2019-03-02",
        coordinate: "x",
        indices: [24, 72],
        count: 48,
        first: "2019-03-01T00:00:00",
        last: "2019-03-02T23:00:00",
      },
    ]);
  });

  it("slice every array of a group that has the dimension", async () => {
    for (const zarrFormat of ["v2", "v3"] as const) {
      const source = await openGroup(await made(hourly, { zarrFormat, group: "a" }));
      const target = new MemoryStore();
      const planned = await planFlow(source, target, { slice: "x=2019-03-01" });
      expect(await planned.taken()).toMatchObject([{ dimension: "x", indices: [24, 48] }]);
      await planned.close();
      await sliceTo(source, target, { sel: { x: "2019-03-01" } });
      expect(await taken(target, "x=2019-03-01T05", {}, "a/v")).toBe(29);
      expect((await openArray({ store: target, path: "x" })).shape).toEqual([24]);
    }
  });

  it("slice one array into a target", async () => {
    const source = await openArray({ store: await made(hourly), path: "v" });
    const target = new MemoryStore();
    await sliceTo(source, target, { slice: "x=2019-03-01T06" });
    expect(await taken(target, "x=2019-03-01T06", {}, "v")).toEqual(30);
    const alone = new MemoryStore();
    await sliceTo(source, alone, { slice: "x=2019-03-01T06", alone: true });
    expect(await taken(alone, [], {}, "")).toEqual([30]);
  });

  it("must mean the same in coordinates of groups below", async () => {
    const x = { shape: [9], dataType: "int16", dimensionNames: ["x"] };
    const source = await openGroup(
      await given({ arrays: { "a/x": x, "b/x": { ...x, values: (i) => 2 + i } } }),
    );
    await expect(sliceTo(source, new MemoryStore(), { sel: { x: [3, 4] } })).rejects.toMatchObject({
      code: "invalid-selection",
      reason: "3..4 along dimension x is 3:5 in a/x, and 1:3 in b/x",
    });
  });
});

it("labels of several dimensions are looked up side by side", async () => {
  const store = await given({
    zarrFormat: "v3",
    arrays: {
      t: { dataType: "int16", shape: [3, 4], dimensionNames: ["y", "x"] },
      y: { dataType: "float64", shape: [3], dimensionNames: ["y"], values: (i) => 10 * i },
      x: { dataType: "float64", shape: [4], dimensionNames: ["x"], values: (i) => 5 * i },
    },
  });
  const array = await openArray({ store, path: "t" });
  const asked = new Set<string>();
  let both = () => {};
  const bothAsked = new Promise<void>((resolve) => {
    both = resolve;
  });
  const get = store.get.bind(store);
  store.get = async (key, ...options) => {
    asked.add(key);
    if (asked.has("x/zarr.json") && asked.has("y/zarr.json")) both();
    if (key === "y/zarr.json") await bothAsked;
    return get(key, ...options);
  };
  const { data } = await array.slice({}, { sel: { y: 20, x: 15 } }).read();
  expect([...(data as Int16Array)]).toEqual([11]);
});
