import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { largestSlab } from "../../src/plan/slabs.ts";
import { searchWindow } from "../../src/plan/window-search.ts";
import { chunkVisits } from "../../src/plan/windows.ts";
import { type Axis, chunksHit } from "../../src/streams/selection.ts";
import { product } from "../../src/util/shape.ts";

describe("chunks that windows touch", () => {
  const dimension = fc.record({
    start: fc.nat(40),
    step: fc.integer({ min: 1, max: 9 }),
    count: fc.nat(60),
    sourceChunk: fc.integer({ min: 1, max: 25 }),
  });

  /** The chunks that hold the results, item by item. */
  function hitOneByOne({ start, step, sourceChunk }: Axis, first: number, count: number): number[] {
    const chunks = new Set<number>();
    for (let i = first; i < first + count; i++) chunks.add(Math.floor((start + step * i) / sourceChunk));
    return [...chunks];
  }

  test("are exactly those that hold a result", () => {
    fc.assert(
      fc.property(dimension, fc.nat(60), fc.nat(60), (d, first, count) => {
        const run = chunksHit(d, first, count);
        const expected = hitOneByOne(d, first, count);
        expect(Array.from({ length: run.count }, (_, i) => run.at(i))).toEqual(expected);
        const last = expected.at(-1) ?? 0;
        for (let chunk = 0; chunk <= last + 2; chunk++) expect(run.has(chunk)).toBe(expected.includes(chunk));
      }),
    );
  });

  test("are counted for all windows together, however many items there are", () => {
    fc.assert(
      fc.property(dimension, fc.integer({ min: 1, max: 70 }), (d, window) => {
        let visits = 0;
        for (let first = 0; first < d.count; first += window)
          visits += hitOneByOne(d, first, Math.min(window, d.count - first)).length;
        expect(chunkVisits(d, window)).toBe(visits);
      }),
      { numRuns: 2000 },
    );
    const d = { start: 0, step: 1, count: 1e12, sourceChunk: 1000 };
    expect(chunkVisits(d, 1000)).toBe(1e9);
    expect(chunkVisits({ ...d, start: 5 }, 1000)).toBe(2e9);
    const windows = Math.ceil(1e12 / 1500);
    expect(chunkVisits(d, 1500)).toBe(1e9 + windows - Math.floor((windows - 1) / 2) - 1);
    expect(chunkVisits({ start: 5, step: 3, count: 2 ** 50, sourceChunk: 1000 }, 1)).toBe(2 ** 50);
    expect(chunkVisits({ start: 0, step: 2, count: 2 ** 50, sourceChunk: 4 }, 2)).toBe(2 ** 49);
  });
});

describe("the window that is searched", () => {
  const axis = fc.record({
    count: fc.integer({ min: 1, max: 30 }),
    sourceChunk: fc.integer({ min: 1, max: 12 }),
    targetChunk: fc.integer({ min: 1, max: 12 }),
  });
  const along = (count: number, sourceChunk: number) => ({ start: 0, step: 1, count, sourceChunk });

  test("fits, and no window that fits reads fewer chunks", () => {
    fc.assert(
      fc.property(
        fc.array(axis, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 40 }),
        (axes, maxChunks) => {
          const chunkShape = axes.map((a) => a.targetChunk);
          const grid = axes.map((a) => Math.ceil(a.count / a.targetChunk));
          const dimensions = axes.map(({ count, sourceChunk }) => along(count, sourceChunk));
          const found = searchWindow({ dimensions, chunkShape, grid, maxChunks, wantedChunks: 1 });
          const visitsOf = (shape: readonly number[]) =>
            product(dimensions.map((d, i) => chunkVisits(d, (shape[i] ?? 1) * (chunkShape[i] ?? 1))));
          expect(product(found.shape)).toBeLessThanOrEqual(maxChunks);
          expect(found.visits).toBe(visitsOf(found.shape));
          const windows = grid.reduce<number[][]>(
            (shapes, n) => shapes.flatMap((shape) => Array.from({ length: n }, (_, i) => [...shape, i + 1])),
            [[]],
          );
          const fitting = windows.filter((shape) => product(shape) <= maxChunks);
          expect(found.visits).toBe(Math.min(...fitting.map(visitsOf)));
        },
      ),
    );
  });

  test("of time slabs to series within a fifth of the array is a fifth, and each slab is read five times", () => {
    const dimensions = [along(1000, 1), along(160, 160), along(160, 160)];
    const grids = { chunkShape: [1000, 16, 16], grid: [1, 10, 10] };
    const found = searchWindow({ dimensions, ...grids, maxChunks: 20, wantedChunks: 1 });
    expect(found).toMatchObject({ shape: [1, 2, 10], visits: 5000 });
  });

  test("takes tiny chunks many at a time, though each alone would read no more", () => {
    const grids = { dimensions: [along(20000, 1)], chunkShape: [1], grid: [20000] };
    const { shape, visits } = searchWindow({ ...grids, maxChunks: 1e6, wantedChunks: 1024 });
    expect(visits).toBe(20000);
    expect(shape[0]).toBeGreaterThanOrEqual(512);
  });

  test("of a grid of 10^12 chunks is found at once", () => {
    const dimensions = Array.from({ length: 4 }, () => along(1e6, 700));
    const grids = { chunkShape: [1000, 1000, 1000, 1000], grid: [1000, 1000, 1000, 1000] };
    const { shape } = searchWindow({ dimensions, ...grids, maxChunks: 64, wantedChunks: 1 });
    expect(product(shape)).toBeLessThanOrEqual(64);
  });
});

test("the largest slab holds whole chunks, and no more items than it may", () => {
  for (const maxItems of [1, 7, 50, 99, 300, 1000]) {
    const [rows = 0, columns = 0] = largestSlab(
      { start: [0, 0], step: [1, 1], shape: [100, 10] },
      [7, 4],
      maxItems,
    );
    expect(rows * columns).toBeLessThanOrEqual(maxItems);
    if (rows > 7 && rows < 100) expect(rows % 7).toBe(0);
  }
  expect(largestSlab({ start: [0], step: [1], shape: [100] }, [7], 50)).toEqual([49]);
});
