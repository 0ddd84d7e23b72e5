import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chunkVisits } from "../../src/plan/windows.ts";
import type { Region } from "../../src/streams/chunk.ts";
import {
  boxInPiece,
  chunkRegion,
  chunksHit,
  intersect,
  type Selection,
  selectedRegions,
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

describe("selectedRegions", () => {
  it("finds the results whose source items lie in a region", () => {
    const inputs = rank.chain((d) => fc.tuple(selection(d), region(d)));
    fc.assert(
      fc.property(inputs, ([selected, source]) => {
        const inside = new Set(itemsIn(source));
        const expected = [...coordsOf(selected.shape)]
          .filter((o) =>
            inside.has(o.map((c, d) => (selected.start[d] ?? 0) + (selected.step[d] ?? 1) * c).join()),
          )
          .map((o) => o.join());
        const found = selectedRegions(selected, source);
        expect(found.length).toBeLessThanOrEqual(1);
        expect(found.flatMap(itemsIn)).toEqual(expected);
        expect(found.every(({ shape }) => shape.every((n) => n > 0))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("finds those of a box that goes round a cyclic dimension, in two regions where a chunk has both ends", () => {
    const round = fc
      .record({ length: fc.integer({ min: 2, max: 12 }), spare: fc.nat(1) })
      .chain(({ length, spare }) =>
        fc.record({
          length: fc.constant(length),
          cycle: fc.constant(length - Math.min(spare, length - 2)),
          start: fc.nat(Math.max(length - 3, 0)),
          step: fc.integer({ min: 1, max: 3 }),
          from: fc.nat(length - 1),
          size: fc.integer({ min: 1, max: length }),
        }),
      );
    fc.assert(
      fc.property(round, ({ length, cycle, start, step, from, size }) => {
        const count = Math.ceil(cycle / step);
        const selection = { start: [start], step: [step], shape: [count], cycle: [cycle] };
        const chunk = { start: [from], shape: [Math.min(size, length - from)] };
        const inChunk = Array.from({ length: count }, (_, o) => o).filter((o) => {
          const item = (start + step * o) % cycle;
          return item >= from && item < from + (chunk.shape[0] ?? 0);
        });
        const found = selectedRegions(selection, chunk).flatMap(itemsIn).map(Number);
        expect(found.sort((a, b) => a - b)).toEqual(inChunk);
        const axis = { start, step, count, cycle, sourceChunk: size };
        const hit = chunksHit(axis, 0, count);
        const chunks = new Set(
          Array.from({ length: count }, (_, o) => Math.floor(((start + step * o) % cycle) / size)),
        );
        expect(Array.from({ length: hit.count }, (_, i) => hit.at(i))).toEqual(
          [...chunks].sort((a, b) => a - b),
        );
        for (const window of [1, 2, 3, 5, count]) {
          let visits = 0;
          for (let first = 0; first < count; first += window)
            visits += chunksHit(axis, first, Math.min(window, count - first)).count;
          expect(chunkVisits(axis, window)).toBe(visits);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("of a whole array is the region itself, also of a scalar", () => {
    const inner = { start: [1, 2], shape: [3, 4] };
    expect(selectedRegions(wholeSelection([10, 10]), inner)).toEqual([inner]);
    const scalar = { start: [], shape: [] };
    expect(selectedRegions(wholeSelection([]), scalar)).toEqual([scalar]);
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

describe("boxInPiece", () => {
  const region = { start: [2, 5], shape: [3, 4] };
  const stepped = { start: [6, 3], step: [3, 4], shape: [8, 8] };
  const whole = wholeSelection([9, 9]);

  it.each<[string, number[], number[], Region, Selection, { offset: number; strides: number[] }]>([
    ["counts from the piece's own first item", [2, 4], [6, 1], region, whole, { offset: 1, strides: [6, 1] }],
    ["follows the strides of the piece", [0, 0], [1, 9], region, whole, { offset: 47, strides: [1, 9] }],
    ["steps over what is not selected", [10, 20], [20, 1], region, stepped, { offset: 43, strides: [60, 4] }],
    [
      "is the one item of a scalar",
      [],
      [],
      { start: [], shape: [] },
      wholeSelection([]),
      { offset: 0, strides: [] },
    ],
  ])("%s", (_, start, strides, target, selection, box) => {
    const shape = start.map(() => 20);
    const piece = { index: 0, coords: start.map(() => 0), region: { start, shape } };
    expect(boxInPiece(piece, strides, target, selection)).toEqual(box);
  });
});
