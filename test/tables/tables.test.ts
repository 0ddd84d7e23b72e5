import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { slice } from "../../src/flows/slice.ts";
import type { FormatSliceOptions } from "../../src/run/slabs/raw.ts";
import { formatSlice, type SliceFormat } from "../../src/tables/slice-format.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, type V2Array, writeV2Group } from "../support/v2-store.ts";

async function group(
  arrays: Readonly<Record<string, V2Array>>,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const folder = await testFolder();
  await writeV2Group(folder, arrays, attributes);
  return folder;
}

/** An array of one dimension. */
function line(dtype: string, items: NonNullable<V2Array["items"]>, more: Partial<V2Array> = {}): V2Array {
  const { length } = items as Uint8Array;
  const chunks = [ArrayBuffer.isView(items) ? 2 : length];
  return { shape: [length], chunks, dtype, items, dimensions: ["x"], ...more };
}

function written(
  slices: Parameters<typeof formatSlice>[0],
  format: SliceFormat,
  options?: FormatSliceOptions,
) {
  return text(formatSlice(slices, format, options) as Parameters<typeof text>[0]);
}

/** The column of one array, without its coordinates: the last cells of its lines, with bars between them. */
async function column(array: V2Array, options: FormatSliceOptions = {}): Promise<string> {
  const folder = await group({ v: array });
  const lines = (await written(slice(`${folder}/v`), "csv", options)).trimEnd().split("\n");
  return lines
    .slice(1)
    .map((one) => one.slice(one.indexOf(",") + 1))
    .join("|");
}

describe("values in tables", () => {
  it("are missing outside the valid range, and where they are equal to a missing value", async () => {
    const items = Int16Array.of(-5, 0, 7, 100, 101);
    const attributes = { scale_factor: 0.5, valid_range: [-4, 100], missing_value: [7] };
    const of = (more: Partial<V2Array>, options = {}) => column(line("<i2", items, more), options);
    expect(await of({ attributes, fillValue: 0 })).toBe("|||50|");
    expect(await of({ attributes: { valid_min: 0 } })).toBe("|0|7|100|101");
    expect(await of({ attributes: { valid_max: 7.5 } })).toBe("-5|0|7||");
    expect(await of({ attributes, fillValue: 0 }, { decode: false })).toBe("-5|0|7|100|101");
  });

  it("of integers with the other sign are compared as such", async () => {
    const items = Int8Array.of(-1, -2, 1);
    const attributes = { _Unsigned: "true", valid_range: [0, -2] };
    expect(await column(line("|i1", items, { attributes }))).toBe("|254|1");
  });

  it("that are times are dates of their calendar, and missing ones empty", async () => {
    const attributes = { units: "days since 2000-02-27", calendar: "360_day" };
    const items = Float64Array.of(0, 3, Number.NaN, 4.25);
    expect(await column(line("<f8", items, { attributes }))).toBe(
      "2000-02-27T00:00:00|2000-02-30T00:00:00||2000-03-01T06:00:00",
    );
    const gaps = { ...attributes, missing_value: 3 };
    expect(await column(line("<i4", Int32Array.of(1, 3), { attributes: gaps }))).toBe("2000-02-28T00:00:00|");
    const nat = BigInt64Array.of(-(2n ** 63n), 1n);
    expect(await column(line("<M8[h]", nat))).toBe("|1970-01-01T01:00:00");
    expect(await column(line("<m8[ms]", BigInt64Array.of(-90500n, 2000n)))).toBe("-PT90.5S|PT2S");
  });

  it("are decoded by attributes in lists of one as by the values alone", async () => {
    const items = Int16Array.of(-9, 0, 1, 7);
    const of = (attributes: V2Array["attributes"], fillValue: number | null = null) =>
      column(line("<i2", items, { attributes, fillValue }));
    expect(await of({ _FillValue: [-9] })).toBe("|0|1|7");
    expect(await of({ _FillValue: [-9, 7] })).toBe("|0|1|");
    expect(await of({ _FillValue: [-9] }, 0)).toBe("-9||1|7");
    expect(await of({ valid_min: [0], valid_max: [1], add_offset: [1], scale_factor: [2] })).toBe("|1|3|");
    // xarray takes no text for a number
    expect(await of({ _FillValue: "-9", missing_value: ["NaN"] })).toBe("-9|0|1|7");
    const time = { units: ["days since 2000-02-28"], calendar: ["360_day"] };
    expect(await of(time)).toMatch(/\|2000-03-05T00:00:00$/);
    const bytes = Int8Array.of(-1, 1);
    expect(await column(line("|i1", bytes, { attributes: { _Unsigned: ["true"] } }))).toBe("255|1");
    const flags = { flag_values: [1], flag_meanings: ["rain"] };
    const named = await column(line("|i1", bytes, { attributes: flags }), { flags: true });
    expect(named).toBe("-1|rain");
  });

  it("that are flags have names", async () => {
    const attributes = { flag_values: [0, 1, 2], flag_meanings: "clear cloud rain", _FillValue: 9 };
    const items = Uint8Array.of(0, 2, 7, 255);
    const flags = line("|u1", items, { attributes, fillValue: 255 });
    expect(await column(flags, { flags: true })).toBe("clear|rain|7|");
    expect(await column(flags)).toBe("0|2|7|");
    const bitMasks = { flag_masks: [1, 2, 12, 12], flag_values: [1, 2, 4, 8] };
    const masks = { ...bitMasks, flag_meanings: "low high wet dry" };
    const bits = line("|u1", Uint8Array.of(0, 3, 6, 9), { attributes: masks });
    expect(await column(bits, { flags: true })).toBe('""|low high|high wet|low dry');
  });

  it("of float32 have as few digits as tell them apart", async () => {
    const items = Float32Array.of(0.1, 16777217, -0, 3.4e38, 1e-45, 1 / 3);
    const cells = await column(line("<f4", items));
    expect(cells).toBe("0.1|16777216|-0|3.4e+38|1.4013e-45|0.33333334");
    expect(cells.split("|").map((one) => Math.fround(Number(one)))).toEqual([...items]);
  });

  it("that are text are quoted as RFC 4180 has it", async () => {
    const words = ["a,b", 'say "x"', "two\nlines", "", " é "];
    const as = async (format: SliceFormat, fillValue: string | null) =>
      written(slice(`${await group({ v: line("|O", words, { fillValue }) })}/v`), format);
    expect(await as("csv", null)).toBe('x,v\n0,"a,b"\n1,"say ""x"""\n2,"two\nlines"\n3,""\n4, é \n');
    const rows = (await as("ndjson", "")).trimEnd().split("\n");
    expect(rows.map((one) => JSON.parse(one).v)).toEqual(["a,b", 'say "x"', "two\nlines", null, " é "]);
  });

  it("of complex numbers are two columns", async () => {
    const folder = await group({ v: { ...line("<c8", Float32Array.of(1, 2, 3, 4)), shape: [2] } });
    expect(await written(slice(`${folder}/v`), "csv")).toBe("x,v.re,v.im\n0,1,2\n1,3,4\n");
  });
});

describe("tables", () => {
  const made = () => {
    const grid = { shape: [2, 3], dimensions: ["y", "x"] };
    const u1 = (shape: number[], items: number[], dimensions: string[]) => ({
      ...{ shape, dtype: "|u1", items: Uint8Array.from(items), dimensions },
    });
    const arrays = {
      t: { ...grid, chunks: [1, 2] },
      u: { ...grid, chunks: [2, 1], dtype: "<i4", items: Int32Array.of(9, 8, 7, 6, 5, 4) },
      w: u1([3], [1, 2, 3], ["x"]),
      z: u1([2], [1, 2], ["z"]),
      y: { shape: [2], dtype: "<f8", items: Float64Array.of(50, 40.5), dimensions: ["y"] },
      place: u1([2, 3], [1, 2, 3, 4, 5, 6], ["y", "x"]),
      height: u1([], [2], []),
    };
    return group(arrays, { coordinates: "height place nothing" });
  };

  it("have the dimensions, other coordinates, and the arrays as columns", async () => {
    const folder = await made();
    expect(await written(slice(`${folder}/t`), "csv")).toBe(
      "y,x,height,place,t\n50,0,2,1,0\n50,1,2,2,1\n50,2,2,3,2\n40.5,0,2,4,3\n40.5,1,2,5,4\n40.5,2,2,6,5\n",
    );
    const part = { y: 1, x: [0, 3, 2] } as const;
    expect(await written([slice(`${folder}/t`, part), slice(`${folder}/u`, part)], "ndjson")).toBe(
      '{"x":0,"y":40.5,"height":2,"place":4,"t":3,"u":6}\n{"x":1,"y":40.5,"height":2,"place":6,"t":5,"u":4}\n',
    );
  });

  it("repeat an array of fewer dimensions, and of nothing have names alone", async () => {
    const folder = await made();
    const table = await written([slice(`${folder}/w`), slice(`${folder}/u`)], "csv");
    expect(table).toMatch(/^y,x,height,place,w,u\n50,0,2,1,1,9\n50,1,2,2,2,8\n/);
    expect(await written(slice(`${folder}/t`, { x: [0, 0] }), "csv")).toBe("y,x,height,place,t\n");
  });

  it("need arrays of the same dimensions", async () => {
    const folder = await made();
    await expect(written([slice(`${folder}/t`), slice(`${folder}/z`)], "csv")).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "dimensions of ``: y 2, x 3", found: "z 2" },
    });
    const parts = [slice(`${folder}/t`, { x: [0, 2] }), slice(`${folder}/u`)];
    await expect(written(parts, "csv")).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("reject coordinates that do not fit in the memory, and structures", async () => {
    const items = Float64Array.from({ length: 200_000 }, (_, i) => i);
    const folder = await group({
      x: line("<f8", items, { chunks: [1000] }),
      v: line("|u1", new Uint8Array(200_000), { chunks: [1000] }),
      s: { shape: [1], chunks: [1], dtype: [["a", "|u1"]], items: Uint8Array.of(1), dimensions: ["x"] },
    });
    await expect(written(slice(`${folder}/v`, {}, { maxMemory: "4MB" }), "csv")).rejects.toMatchObject({
      code: "resource-limit",
      details: { hint: expect.stringContaining("--max-mem") },
    });
    const structures = written(slice(`${folder}/s`), "csv");
    await expect(structures).rejects.toMatchObject({ code: "unsupported-operation" });
  });

  it("are the same by small slabs as by large ones", async () => {
    const shape = [13, 17, 11];
    const items = ramp(13 * 17 * 11);
    const dimensions = ["a", "b", "c"];
    const folder = await group({
      p: { shape, chunks: [4, 5, 11], dtype: "<f4", items, dimensions },
      q: { shape, chunks: [13, 2, 3], dtype: "<f4", items, dimensions },
    });
    const table = (maxMemory: string) =>
      written(
        ["p", "q"].map((name) => slice(`${folder}/${name}`, {}, { maxMemory, threads: 1 })),
        "csv",
      );
    const expected = ["a,b,c,p,q"];
    for (let i = 0; i < items.length; i++)
      expected.push([Math.floor(i / 187), Math.floor(i / 11) % 17, i % 11, i, i].join(","));
    expect((await table("256MB")).trimEnd().split("\n")).toEqual(expected);
    await expect(table("12kB")).rejects.toMatchObject({
      code: "budget-too-small",
      details: { found: "12000 bytes", neededBytes: 43691 },
    });
    expect((await table("44kB")).trimEnd().split("\n")).toEqual(expected);
  });
});

describe("files of values", () => {
  it("as JSON are nested, or one flat list", async () => {
    const items = Uint8Array.of(1, 2, 3, 4);
    const folder = await group({
      t: { shape: [2, 1, 2], chunks: [1, 1, 1], dtype: "|u1", items, dimensions: ["z", "y", "x"] },
      v: line("<i2", Int16Array.of(1, 2), { attributes: { scale_factor: 0.5, missing_value: 2 } }),
    });
    const t = slice(`${folder}/t`);
    expect(await written(t, "json")).toBe("[[[1,2]],[[3,4]]]\n");
    expect(await written(t, "json", { flat: true })).toBe("[1,2,3,4]\n");
    expect(await written(slice(`${folder}/t`, [1, 0, 1]), "json")).toBe("4\n");
    expect(await written(slice(`${folder}/t`, [[0, 0]]), "json")).toBe("[]\n");
    expect(await written(slice(`${folder}/v`), "json", { decode: true })).toBe("[0.5,null]\n");
  });

  it("hold one array unless the format is of several", async () => {
    const folder = await group({ v: line("|u1", Uint8Array.of(1, 2)) });
    const v = slice(`${folder}/v`);
    const refused = { code: "invalid-option" };
    await expect(written([v, v], "npy")).rejects.toMatchObject(refused);
    await expect(written(v, "raw", { flags: true })).rejects.toMatchObject(refused);
    await expect(written(v, "csv", { flags: true, decode: false })).rejects.toMatchObject(refused);
  });

  it("of times are rejected as NumPy where the calendar has no dates there", async () => {
    const attributes = { units: "days since 2000-01-01", calendar: "noleap" };
    const folder = await group({ v: line("<i4", Int32Array.of(1, 2), { attributes }) });
    for (const format of ["npy", "raw"] as const) {
      await expect(written(slice(`${folder}/v`), format, { decode: true })).rejects.toMatchObject({
        code: "unsupported-operation",
        details: { hint: expect.stringContaining("csv") },
      });
    }
  });
});
