import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkVisits } from "../../../src/flows/plan/chunk-visits.ts";
import { searchWindow } from "../../../src/flows/plan/window-search.ts";
import { product } from "../../../src/util/shape.ts";

const axis = fc.record({
  count: fc.integer({ min: 1, max: 30 }),
  sourceChunk: fc.integer({ min: 1, max: 12 }),
  targetChunk: fc.integer({ min: 1, max: 12 }),
});

test("the window fits, and no window that fits reads fewer chunks", () => {
  fc.assert(
    fc.property(
      fc.array(axis, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 1, max: 40 }),
      (axes, maxChunks) => {
        const chunkShape = axes.map((a) => a.targetChunk);
        const grid = axes.map((a) => Math.ceil(a.count / a.targetChunk));
        const dimensions = axes.map(({ count, sourceChunk }) => ({ start: 0, step: 1, count, sourceChunk }));
        const found = searchWindow({ dimensions, chunkShape, grid, maxChunks, wantedChunks: 1 });
        const visitsOf = (shape: readonly number[]) =>
          product(dimensions.map((d, i) => chunkVisits(d, (shape[i] ?? 1) * (chunkShape[i] ?? 1))));

        expect(product(found.shape)).toBeLessThanOrEqual(maxChunks);
        expect(found.visits).toBe(visitsOf(found.shape));
        let fewest = Number.POSITIVE_INFINITY;
        const windows = grid.reduce<number[][]>(
          (shapes, n) => shapes.flatMap((shape) => Array.from({ length: n }, (_, i) => [...shape, i + 1])),
          [[]],
        );
        for (const shape of windows) {
          if (product(shape) <= maxChunks) fewest = Math.min(fewest, visitsOf(shape));
        }
        expect(found.visits).toBe(fewest);
      },
    ),
  );
});

test("time slabs to time series within a fifth of the array: one window a fifth, each slab read five times", () => {
  const { shape, visits } = searchWindow({
    dimensions: [
      { start: 0, step: 1, count: 1000, sourceChunk: 1 },
      { start: 0, step: 1, count: 160, sourceChunk: 160 },
      { start: 0, step: 1, count: 160, sourceChunk: 160 },
    ],
    chunkShape: [1000, 16, 16],
    grid: [1, 10, 10],
    maxChunks: 20,
    wantedChunks: 1,
  });
  expect(shape).toEqual([1, 2, 10]);
  expect(visits).toBe(5000);
});

test("tiny chunks are taken many at a time, though each alone would read no more", () => {
  const { shape, visits } = searchWindow({
    dimensions: [{ start: 0, step: 1, count: 20000, sourceChunk: 1 }],
    chunkShape: [1],
    grid: [20000],
    maxChunks: 1e6,
    wantedChunks: 1024,
  });
  expect(visits).toBe(20000);
  expect(shape[0]).toBeGreaterThanOrEqual(512);
});

test("a grid of 10^12 chunks is searched at once", () => {
  const { shape } = searchWindow({
    dimensions: Array.from({ length: 4 }, () => ({ start: 0, step: 1, count: 1e6, sourceChunk: 700 })),
    chunkShape: [1000, 1000, 1000, 1000],
    grid: [1000, 1000, 1000, 1000],
    maxChunks: 64,
    wantedChunks: 1,
  });
  expect(product(shape)).toBeLessThanOrEqual(64);
});
