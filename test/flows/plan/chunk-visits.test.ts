import fc from "fast-check";
import { expect, test } from "vitest";
import { chunkVisits } from "../../../src/flows/plan/chunk-visits.ts";
import { type Axis, chunksHit } from "../../../src/streams/chunks-hit.ts";

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

test("chunksHit lists exactly the chunks that hold a result", () => {
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

test("chunkVisits counts what all windows together hit", () => {
  fc.assert(
    fc.property(dimension, fc.integer({ min: 1, max: 70 }), (d, window) => {
      let visits = 0;
      for (let first = 0; first < d.count; first += window) {
        visits += hitOneByOne(d, first, Math.min(window, d.count - first)).length;
      }
      expect(chunkVisits(d, window)).toBe(visits);
    }),
    { numRuns: 2000 },
  );
});

test("chunkVisits of a dimension of 10^12 items takes no time", () => {
  const d = { start: 5, step: 1, count: 1e12, sourceChunk: 1000 };
  expect(chunkVisits(d, 1000)).toBe(2e9);
  expect(chunkVisits({ ...d, start: 0 }, 1000)).toBe(1e9);
  expect(chunkVisits({ ...d, start: 0 }, 1500)).toBe(
    1e9 + Math.ceil(1e12 / 1500) - Math.floor((Math.ceil(1e12 / 1500) - 1) / 2) - 1,
  );
});

test("chunkVisits with steps takes no time either", () => {
  const d = { start: 5, step: 3, count: 2 ** 50, sourceChunk: 1000 };
  expect(chunkVisits(d, 1)).toBe(2 ** 50);
  expect(chunkVisits({ start: 0, step: 2, count: 2 ** 50, sourceChunk: 4 }, 2)).toBe(2 ** 49);
});
