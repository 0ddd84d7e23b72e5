import { describe, expect, it } from "vitest";
import { parseSlice, resolveSlice, type SliceOption } from "../../src/hierarchy/slice-option.ts";
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
  ])("reads %s", (text, option) => {
    expect(parseSlice(text)).toEqual(option);
  });

  it.each([
    "45.0",
    "45.0:50.0",
    "1e1",
    "0x10",
    "0b1",
    "+3",
    "1_000",
    "Infinity",
    "NaN",
    "１",
    "--3",
    "9007199254740993",
  ])("takes %s for no index", (text) => {
    for (const slice of [text, `x=${text}`, `x=0:${text}`]) {
      expect(() => parseSlice(slice)).toThrowError(
        expect.objectContaining({
          code: "invalid-selection",
          details: { hint: expect.stringContaining("indices") },
        }),
      );
    }
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

  it("says that dates are not looked up", () => {
    const date = "time=2020-01-01:2020-02-01";
    const details = { hint: expect.stringContaining("dates and coordinate values are not looked up") };
    expect(() => parseSlice(date)).toThrowError(expect.objectContaining({ details }));
  });

  it("takes one range a dimension", () => {
    expect(() => parseSlice("x=0:2,x=4:6")).toThrowError("`x` is given twice");
  });
});

describe("resolveSlice", () => {
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
    const details = { path: "", hint: "Use 0 to 9, or -1 to -10 from the end." };
    expect(() => resolve(text)).toThrowError(expect.objectContaining({ code: "invalid-selection", details }));
  });

  it("refuses bounds beyond the dimension where a part is written", () => {
    const write = () => resolveSlice([[0, 11]], array([10]), "", { exactBounds: true });
    expect(write).toThrowError(expect.objectContaining({ code: "invalid-selection" }));
  });

  it.each([1.5, Number.NaN, [0.5, 3], [0, 1.5], [0, 3, 0.5], "3", ["0", "3"], [0], [0, 1, 2, 3], {}, true])(
    "refuses %j in an object",
    (range) => {
      const option = { x: range } as unknown as SliceOption;
      expect(() => resolveSlice(option, array([10], ["x"]), "")).toThrowError(
        expect.objectContaining({ code: "invalid-selection" }),
      );
    },
  );

  it.each([
    ["a Map", new Map([["x", [0, 3]]])],
    ["a Set", new Set()],
    ["a Date", new Date(0)],
    ["a typed array", new Int32Array(2)],
    ["a promise", Promise.resolve({})],
  ])("refuses %s in place of ranges", (_, option) => {
    expect(() => resolveSlice(option as unknown as SliceOption, array([10], ["x"]), "a")).toThrowError(
      expect.objectContaining({ code: "invalid-selection" }),
    );
  });

  it("takes records without a prototype", () => {
    const option = Object.assign(Object.create(null), { x: [0, 3] });
    expect(resolveSlice(option, array([10], ["x"]), "").selection.shape).toEqual([3]);
  });
});
