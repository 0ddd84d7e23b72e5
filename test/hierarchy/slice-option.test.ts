import { describe, expect, it } from "vitest";
import { parseSlice } from "../../src/hierarchy/parse-slice.ts";
import { resolveSlice, type SliceOption } from "../../src/hierarchy/slice-option.ts";
import type { ArrayMetadata } from "../../src/meta/array-metadata.ts";

/** As much of an array's metadata as slices look at. */
const array = (shape: number[], dimensionNames?: string[]) =>
  ({ kind: "array", shape, ...(dimensionNames && { dimensionNames }) }) as unknown as ArrayMetadata;

const resolve = (option: SliceOption | string, shape = [10]) =>
  resolveSlice(typeof option === "string" ? parseSlice(option) : option, array(shape), "").selection;

describe("parseSlice", () => {
  it.each([
    ["3", [3]],
    ["-3", [-3]],
    ["1:5", [[1, 5]]],
    [":", [[null, null]]],
    ["::2", [[null, null, 2]]],
    ["-5:, 0", [[-5, null], 0]],
    ["@3", [3]],
    ["@2016", [2016]],
    ["@2016:2018", [[2016, 2018]]],
    ["@::24,@ 5", [[null, null, 24], 5]],
  ])("reads %s", (text, option) => expect(parseSlice(text)).toEqual(option));

  it("notes whole numbers of three and four digits, which may be years", () => {
    const years = (maybeYears: unknown) => ({ maybeYears });
    expect(parseSlice("a=0050,b=900,c=0050:0060,d=50,e=099:100,f=50:900,g=-900,h=12345")).toEqual({
      ...{ a: years(50), b: years(900), c: years([50, 60]) },
      ...{ d: 50, e: [99, 100], f: [50, 900], g: -900, h: 12345 },
    });
    expect(parseSlice("x=2016,y=2016:2018:2,z=2016:,w=0:2016,v=@2016:,u=-2016:")).toEqual({
      ...{ x: years(2016), y: years([2016, 2018, 2]), z: years([2016, null]) },
      ...{ w: [0, 2016], v: [2016, null], u: [-2016, null] },
    });
    expect(resolve("2016", [3000])).toMatchObject({ start: [2016] });
  });

  it.each(["20:10", "5:5", "-5:-10", "@9:3", "-1:-1"])("rejects %s, which holds nothing", (text) => {
    for (const slice of [text, `x=${text}`]) expect(() => parseSlice(slice)).toThrowError(/selects no items/);
  });

  it.each(["::-1", "10:0:-1", "@::-2"])("says that the step of %s is not supported", (text) => {
    expect(() => parseSlice(`x=${text}`)).toThrowError(/negative step, which is not supported/);
  });

  const NEITHER =
    "45.0:50.0 1e1:2e1 0x10:0x20 +3 0:--3 0:１ 9007199254740993 2019-03-01:100 2019-03-01:: 45..50..x";
  it.each(NEITHER.split(" "))("takes %s for neither indices nor labels", (text) => {
    const details = { hint: expect.stringContaining("indices") };
    const refused = expect.objectContaining({ code: "invalid-selection", details });
    for (const slice of [text, `x=${text}`]) expect(() => parseSlice(slice)).toThrowError(refused);
  });

  it.each([
    ["45.0", "45.0"],
    ["1e1", "1e1"],
    ["Oslo", "Oslo"],
    ["2019-03", "2019-03"],
    ["2019-03-01T12:00", "2019-03-01T12:00"],
    ["45..50", ["45", "50"]],
    ["-10.5..-5", ["-10.5", "-5"]],
    ["45..", ["45", null]],
    ["..50", [null, "50"]],
    ["45..50..2", ["45", "50", 2]],
    ["2019..2020", ["2019", "2020"]],
    ["2019-03-01:2019-03-08", ["2019-03-01", "2019-03-08"]],
    ["2019-03-01T06:00:2019-03-01T18:00:30", ["2019-03-01T06:00", "2019-03-01T18:00:30"]],
    ["2019-03-01T06:2019-03-02", ["2019-03-01T06", "2019-03-02"]],
    ["2019-03:", ["2019-03", null]],
    [":2019-03", [null, "2019-03"]],
    ["2019-03:2019-05:24", ["2019-03", "2019-05", 24]],
  ])("reads %s as labels", (text, labels) => {
    expect(parseSlice(`x=${text},y=0:2`)).toEqual({ x: { labels }, y: [0, 2] });
    expect(parseSlice(text)).toEqual([{ labels }]);
  });

  it.each([
    ["time:0:24", "time=0:24"],
    ["time:0:24,lat:3", "time=0:24,lat=3"],
    ["time=0:24,lat:3", "time=0:24,lat=3"],
  ])("knows what %s was meant to be", (text, meant) => {
    const details = { hint: `Did you mean \`${meant}\`?` };
    expect(() => parseSlice(text)).toThrowError(
      expect.objectContaining({ code: "invalid-selection", details }),
    );
  });

  it("takes one range a dimension", () => {
    expect(() => parseSlice("x=0:2,x=4:6")).toThrowError("`x` is given twice");
  });
});

describe("resolveSlice", () => {
  it("rejects ranges that end before they begin, and takes empty ones as NumPy does", () => {
    for (const range of ["8 3", "-1 0", "9 -5"]) {
      const [from = 0, to = 0] = range.split(" ").map(Number);
      expect(() => resolve([[from, to]])).toThrowError(/ends before it begins/);
    }
    expect(() => resolve([[10, 12]])).toThrowError(/10 is outside/);
    expect(() => resolve([[null, null, -1]])).toThrowError(/negative step, which is not supported/);
    for (const end of [5, 10, 0]) expect(resolve([[end, end]]).shape).toEqual([0]);
    expect(resolve([[10, null]]).shape).toEqual([0]);
  });

  it("says how a date is written where its digits are outside", () => {
    for (const [index, date] of [
      [20200101, "2020-01-01"],
      [202001, "2020-01"],
    ] as const) {
      const details = expect.objectContaining({ hint: expect.stringContaining(date) });
      for (const option of [[index], [[index, null]]] as SliceOption[])
        expect(() => resolve(option)).toThrowError(expect.objectContaining({ details }));
    }
  });

  it.each([
    ["0:5000", 0, 10],
    ["4:5000", 4, 6],
    ["-5000:3", 0, 3],
    ["-3:", 7, 3],
    ["10:", 10, 0],
  ])("clamps %s as NumPy does", (text, start, count) => {
    expect(resolve(text)).toMatchObject({ start: [start], shape: [count] });
  });

  it.each(["10", "-11", "5000", "11:", "5000:6000", ":-11"])("refuses %s, which is outside", (text) => {
    const details = {
      path: "",
      hint: "Use 0 to 9, or -1 to -10 from the end. Write labels as 45.0 or 45..50 (in code: sel).",
    };
    expect(() => resolve(text)).toThrowError(expect.objectContaining({ code: "invalid-selection", details }));
  });

  it("refuses bounds beyond the dimension where a part is written", () => {
    const write = () => resolveSlice([[0, 11]], array([10]), "", { exactBounds: true });
    expect(write).toThrowError(expect.objectContaining({ code: "invalid-selection" }));
  });

  const INVALID = expect.objectContaining({ code: "invalid-selection" });
  it.each([1.5, Number.NaN, [0.5, 3], [0, 1.5], [0, 3, 0.5], "3", ["0", "3"], [0], [0, 1, 2, 3], {}, true])(
    "refuses %j in an object",
    (range) => {
      const option = { x: range } as unknown as SliceOption;
      expect(() => resolveSlice(option, array([10], ["x"]), "")).toThrowError(INVALID);
    },
  );

  it("refuses what is no record in place of ranges", () => {
    const others = [new Map([["x", [0, 3]]]), new Set(), new Date(0), new Int32Array(2), Promise.resolve({})];
    for (const option of others as unknown as SliceOption[])
      expect(() => resolveSlice(option, array([10], ["x"]), "a"), String(option)).toThrowError(INVALID);
  });

  it("takes records without a prototype", () => {
    const option = Object.assign(Object.create(null), { x: [0, 3] });
    expect(resolveSlice(option, array([10], ["x"]), "").selection.shape).toEqual([3]);
  });
});
