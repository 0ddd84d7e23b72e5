// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  type FlowEvent,
  openArray,
  openGroup,
  pyramid,
  type SliceOption,
  sliceTo,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { itemsOf } from "../../support/consume.ts";
import { type GivenArray, given } from "../../support/given.ts";

type Axis = readonly number[];
/** Groups by path, each with the coordinates x and y and a variable `v` of them. */
type Tree = Readonly<Record<string, { x: Axis; y: Axis; without?: "x" | "y"; ofX?: Record<string, string> }>>;

function make(tree: Tree): Promise<MemoryStore> {
  const arrays: Record<string, GivenArray> = {};
  for (const [path, { x, y, without, ofX = {} }] of Object.entries(tree)) {
    const axis = { dataType: "float64", chunks: [4] };
    if (without !== "x") arrays[`${path}/x`] = { ...axis, dimensionNames: ["x"], attributes: ofX, values: x };
    if (without !== "y") arrays[`${path}/y`] = { ...axis, dimensionNames: ["y"], values: y };
    const grid = { shape: [y.length, x.length], chunks: [4, 4], dimensionNames: ["y", "x"] };
    arrays[`${path}/v`] = { dataType: "float64", ...grid };
  }
  return given({ arrays });
}

/** Middles of cells of a size from 0 on. */
const cells = (count: number, size: number) => Array.from({ length: count }, (_, i) => (i + 0.5) * size);
const from = (start: number, count: number, size: number) => cells(count, size).map((x) => x + start);
const down = (axis: Axis) => [...axis].reverse();

async function cut(source: MemoryStore, options: { readonly slice: SliceOption | string }) {
  const [target, warnings] = [new MemoryStore(), [] as string[]];
  const onEvent = (event: FlowEvent) =>
    void (event.type === "warning" && warnings.push(`${event.path}: ${event.message}`));
  await sliceTo(source, target, { ...options, onEvent });
  return { target, warnings };
}

/** Levels as a satellite product has them: side by side, and one of them less deep. */
const product: Tree = {
  "reflectance/r10": { x: cells(24, 10), y: down(cells(24, 10)) },
  "reflectance/r20": { x: cells(12, 20), y: down(cells(12, 20)) },
  "reflectance/r60": { x: cells(4, 60), y: down(cells(4, 60)) },
  geometry: { x: cells(2, 120), y: down(cells(2, 120)) },
};

describe("a slice of levels side by side", () => {
  test.each<[string, SliceOption | string]>([
    ["indices of the finest", { x: [9, 15], y: [0, 3] }],
    ["labels", "x=92.0..150.0,y=210.0..240.0"],
  ])("by %s takes of each the cells that overlap", async (_, option) => {
    const { target, warnings } = await cut(await make(product), { slice: option });
    expect(warnings).toEqual([]);
    for (const [path, items] of Object.entries({
      "reflectance/r10/x": [95, 105, 115, 125, 135, 145],
      "reflectance/r20/x": [90, 110, 130, 150],
      "reflectance/r60/x": [90, 150],
      "geometry/x": [60, 180],
      "reflectance/r10/y": [235, 225, 215],
      "reflectance/r20/y": [230, 210],
      "reflectance/r60/y": [210],
      "reflectance/r20/v": [4, 5, 6, 7, 16, 17, 18, 19],
      "reflectance/r60/v": [1, 2],
    }))
      expect([path, await itemsOf(target, path)]).toEqual([path, items]);
  });

  test.each<[string, SliceOption, string, number[]]>([
    ["no neighbor whose edge alone touches", { x: [6, 12] }, "r20", [70, 90, 110]],
    ["no neighbor that is larger", { x: [6, 12] }, "r60", [90]],
    ["one cell of one item", { x: 7 }, "r60", [90]],
    ["steps of each", { x: [0, 24, 2] }, "r20", [10, 50, 90, 130, 170, 210]],
    ["nothing of nothing", { x: [3, 3] }, "r60", []],
  ])("takes %s", async (_, option, level, expected) => {
    const { target } = await cut(await make(product), { slice: option });
    expect(await itemsOf(target, `reflectance/${level}/x`)).toEqual(expected);
  });

  test("takes whole what has no coordinates, none in order, or none there, and says so", async () => {
    const fine = product["reflectance/r10"] ?? { x: [], y: [] };
    const source = await make({
      fine,
      bare: { x: cells(12, 20), y: fine.y, without: "x" },
      mixed: { x: [5, 1, 9], y: fine.y },
      beyond: { x: [900, 910], y: fine.y },
      single: { x: [100], y: fine.y },
    });
    const { target, warnings } = await cut(source, { slice: { x: [9, 15], y: [0, 3] } });
    const whole = "this is copied whole, not sliced: dimension x has 24 items in fine";
    expect(warnings.toSorted()).toEqual(
      ["bare", "beyond", "mixed"].map((path) => expect.stringContaining(`${path}: ${whole}`)),
    );
    expect((await openArray({ store: target, path: "bare/v" })).shape).toEqual([24, 12]);
    expect((await openArray({ store: target, path: "single/v" })).shape).toEqual([3, 1]);
    const strict = sliceTo(source, new MemoryStore(), { slice: { x: 0 }, strict: true });
    await expect(strict).rejects.toMatchObject({ code: "invalid-selection" });
  });
});

describe("a slice of a pyramid of a dataset", () => {
  const leveled = async (tree: Tree, method: "mean" | "nearest") => {
    const levels = new MemoryStore();
    await pyramid({ store: await make(tree), path: "a" }, levels, { levels: 3, method });
    return levels;
  };
  const plain = { a: { x: cells(21, 1), y: down(cells(14, 1)) } };

  /** Where the layout says that each level lies along a dimension. */
  async function placesOf(target: MemoryStore, name: string) {
    const { multiscales } = (await openGroup(target)).attributes as {
      multiscales: {
        layout: { transform: { scale: number[]; translation: number[] } }[];
        spatial_dimensions: string[];
      };
    };
    const d = multiscales.spatial_dimensions.indexOf(name);
    return multiscales.layout.map(({ transform: { scale, translation } }) => ({
      at: (item: number) => (translation[d] ?? 0) + item * (scale[d] ?? 1),
    }));
  }

  test("is a pyramid whose layout says where its levels lie", async () => {
    const { target, warnings } = await cut(await leveled(plain, "mean"), {
      slice: { y: [3, 9], x: [5, 11] },
    });
    expect(warnings).toEqual([]);
    for (const name of ["x", "y"]) {
      const [first = 0, second = 0] = (await itemsOf(target, `0/${name}`)) as number[];
      for (const [level, { at }] of (await placesOf(target, name)).entries()) {
        const own = (await itemsOf(target, `${level}/${name}`)) as number[];
        // the last block may be cut off by the end of the data
        const stated = own.map((_, i) => first + (second - first) * at(i));
        expect(own.slice(0, -1)).toEqual(stated.slice(0, -1));
      }
    }
    expect((await openArray({ store: target, path: "1/v" })).shape).toEqual([4, 4]);
  });

  test.each<[string, readonly number[], readonly number[], readonly number[]]>([
    ["-30..30", [-30, -20, -10, 0, 10, 20, 30], [-35, -15, 5, 25], [-25, 15]],
    ["-40..-20", [-40, -30, -20], [-35, -15], [-25]],
    ["330..350..1", [330, 340, 350], [325, 345], [335]],
    ["360..380", [360, 370, 380], [365, 385], [375]],
    ["-180..180", from(-185, 36, 10), from(-185, 18, 20), from(-205, 9, 40)],
  ])("around the globe is cut at %s in each level", async (range, ...expected) => {
    const a = { x: from(-5, 36, 10), y: down(cells(14, 1)), ofX: { units: "degrees_east" } };
    const { target, warnings } = await cut(await leveled({ a }, "mean"), { slice: `x=${range}` });
    expect(warnings).toEqual([]);
    const places = await placesOf(target, "x");
    for (const [level, labels] of expected.entries()) {
      expect(await itemsOf(target, `${level}/x`)).toEqual(labels);
      const [first = 0] = expected[0] ?? [];
      expect(labels).toEqual(labels.map((_, i) => first + 10 * (places[level]?.at(i) ?? 0)));
    }
  });

  test("cut whole, or along time alone, keeps its layout", async () => {
    const levels = await leveled(plain, "nearest");
    const { target } = await cut(levels, { slice: { y: [0, 14] } });
    expect((await openGroup(target)).attributes).toEqual((await openGroup(levels)).attributes);
  });
});
