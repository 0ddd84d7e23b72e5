import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Region } from "../../src/streams/chunk.ts";
import {
  boxInPiece,
  chunkRegion,
  intersect,
  type Selection,
  selectedRegion,
  selectedRun,
  wholeSelection,
} from "../../src/streams/selection.ts";
import { coordsOf } from "../../src/util/shape.ts";
import { vector } from "./arbitraries.ts";

const rank = fc.integer({ min: 0, max: 3 });
const region = (d: number): fc.Arbitrary<Region> =>
  fc.record({ start: vector(d, fc.nat(8)), shape: vector(d, fc.nat(6)) });
const selection = (d: number): fc.Arbitrary<Selection> =>
  fc.record({
    start: vector(d, fc.nat(6)),
    step: vector(d, fc.integer({ min: 1, max: 4 })),
    shape: vector(d, fc.nat(5)),
  });

/** The items of a region, as text. */
function itemsIn({ start, shape }: Region): string[] {
  return [...coordsOf(shape)].map((coords) => coords.map((c, d) => c + (start[d] ?? 0)).join());
}

describe("selectedRun and selectedRegion", () => {
  it("find the results whose source items lie in a region", () => {
    const inputs = rank.chain((d) => fc.tuple(selection(d), region(d)));
    fc.assert(
      fc.property(inputs, ([selected, source]) => {
        const inside = new Set(itemsIn(source));
        const expected = [...coordsOf(selected.shape)]
          .filter((o) =>
            inside.has(o.map((c, d) => (selected.start[d] ?? 0) + (selected.step[d] ?? 1) * c).join()),
          )
          .map((o) => o.join());
        const found = selectedRegion(selected, source);
        expect(found ? itemsIn(found) : []).toEqual(expected);
        if (found) expect(found.shape.every((n) => n > 0)).toBe(true);
        for (let d = 0; d < selected.shape.length; d++) {
          const run = selectedRun(selected, d, source.start[d] ?? 0, source.shape[d] ?? 0);
          const results = Array.from({ length: selected.shape[d] ?? 0 }, (_, o) => o).filter((o) => {
            const item = (selected.start[d] ?? 0) + (selected.step[d] ?? 1) * o - (source.start[d] ?? 0);
            return item >= 0 && item < (source.shape[d] ?? 0);
          });
          expect(run.count).toBe(results.length);
          if (run.count > 0) expect(run.first).toBe(results[0]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("of a whole array is the region itself", () => {
    const inner = { start: [1, 2], shape: [3, 4] };
    expect(selectedRegion(wholeSelection([10, 10]), inner)).toEqual(inner);
  });

  it("of a scalar is the scalar", () => {
    expect(selectedRegion(wholeSelection([]), { start: [], shape: [] })).toEqual({ start: [], shape: [] });
  });
});

describe("intersect", () => {
  it("keeps the items that both regions have", () => {
    const inputs = rank.chain((d) => fc.tuple(region(d), region(d)));
    fc.assert(
      fc.property(inputs, ([a, b]) => {
        const inB = new Set(itemsIn(b));
        const shared = intersect(a, b);
        expect(shared ? itemsIn(shared) : []).toEqual(itemsIn(a).filter((item) => inB.has(item)));
      }),
      { numRuns: 300 },
    );
  });
});

describe("chunkRegion", () => {
  it("cuts a chunk at the array's edge", () => {
    expect(chunkRegion([0, 0], [4, 5], [10, 10])).toEqual({ start: [0, 0], shape: [4, 5] });
    expect(chunkRegion([2, 1], [4, 5], [10, 10])).toEqual({ start: [8, 5], shape: [2, 5] });
    expect(chunkRegion([], [], [])).toEqual({ start: [], shape: [] });
  });

  it("covers every item of an array by exactly one chunk", () => {
    const inputs = rank.chain((d) =>
      fc.tuple(vector(d, fc.nat(7)), vector(d, fc.integer({ min: 1, max: 4 }))),
    );
    fc.assert(
      fc.property(inputs, ([shape, chunkShape]) => {
        const grid = shape.map((n, d) => Math.ceil(n / (chunkShape[d] ?? 1)));
        const covered = [...coordsOf(grid)].flatMap((coords) =>
          itemsIn(chunkRegion(coords, chunkShape, shape)),
        );
        const start = shape.map(() => 0);
        expect(covered.sort()).toEqual(itemsIn({ start, shape }).sort());
      }),
      { numRuns: 100 },
    );
  });
});

const target = { start: [2, 5], shape: [3, 4] };

describe("boxInPiece", () => {
  it("counts from the piece's own first item", () => {
    const piece = { index: 0, coords: [1, 1], region: { start: [2, 4], shape: [4, 6] } };
    expect(boxInPiece(piece, [6, 1], target, wholeSelection([9, 9]))).toEqual({ offset: 1, strides: [6, 1] });
  });

  it("follows the strides of the piece, whatever their order", () => {
    const piece = { index: 0, coords: [0, 0], region: { start: [0, 0], shape: [9, 9] } };
    expect(boxInPiece(piece, [1, 9], target, wholeSelection([9, 9]))).toEqual({
      offset: 2 + 9 * 5,
      strides: [1, 9],
    });
  });

  it("steps over the items that are not selected", () => {
    const piece = { index: 0, coords: [1, 1], region: { start: [10, 20], shape: [20, 20] } };
    const selection = { start: [6, 3], step: [3, 4], shape: [8, 8] };
    const box = boxInPiece(piece, [20, 1], target, selection);
    expect(box).toEqual({ offset: (6 + 3 * 2 - 10) * 20 + (3 + 4 * 5 - 20), strides: [60, 4] });
  });

  it("is the one item of a scalar", () => {
    const piece = { index: 0, coords: [], region: { start: [], shape: [] } };
    expect(boxInPiece(piece, [], { start: [], shape: [] }, wholeSelection([]))).toEqual({
      offset: 0,
      strides: [],
    });
  });
});
