// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingSlab } from "../../../src/flows/slabs/growing-slab.ts";
import type { Region } from "../../../src/streams/chunk.ts";
import { axesOver, chunksHit } from "../../../src/streams/chunks-hit.ts";
import { intersect, type Selection, selectedRegions } from "../../../src/streams/selection.ts";
import { coordsOf, indexOf, product } from "../../../src/util/shape.ts";
import { shuffled } from "../../streams/arbitraries.ts";
import { samples } from "../../support/samples.ts";

/** A dimension: what is taken of it, a chunk, and the part of it that the slab has. */
const dimension = fc
  .record({
    start: fc.nat(6),
    step: fc.integer({ min: 1, max: 4 }),
    count: fc.integer({ min: 1, max: 7 }),
    chunk: fc.integer({ min: 1, max: 5 }),
    isCyclic: fc.boolean(),
  })
  .chain(({ count, ...axis }) =>
    fc
      .nat(count - 1)
      .chain((from) =>
        fc.integer({ min: 1, max: count - from }).map((length) => ({ ...axis, count, from, length })),
      ),
  );

const anySlab = fc.array(dimension, { minLength: 1, maxLength: 3 }).chain((axes) => {
  const selection: Selection = {
    start: axes.map(({ start }) => start),
    step: axes.map(({ step }) => step),
    shape: axes.map(({ count }) => count),
    // the box may end one item before it would meet itself
    cycle: axes.map(({ isCyclic, start, step, count }) =>
      isCyclic ? Math.max(start + 1, step * (count - 1) + 1) : 0,
    ),
  };
  const region = { start: axes.map(({ from }) => from), shape: axes.map(({ length }) => length) };
  const source = { chunkShape: axes.map(({ chunk }) => chunk) };
  return shuffled(piecesOf(selection, source.chunkShape, region)).map((pieces) => ({
    selection,
    source,
    region,
    pieces,
  }));
});

/** The items of the result that each source chunk gives to a slab. */
function piecesOf(selection: Selection, chunkShape: readonly number[], slab: Region): Region[] {
  const hit = axesOver(selection, chunkShape).map((axis, d) =>
    chunksHit(axis, slab.start[d] ?? 0, slab.shape[d] ?? 0),
  );
  return [...coordsOf(hit.map(({ count }) => count))].flatMap((at) => {
    const start = at.map((i, d) => (hit[d]?.at(i) ?? 0) * (chunkShape[d] ?? 1));
    const regions = selectedRegions(selection, { start, shape: chunkShape });
    return regions.filter((region) => intersect(region, slab));
  });
}

test("knows how many of its first items are there, whichever chunks come first", () => {
  fc.assert(
    fc.property(anySlab, ({ region, pieces, ...source }) => {
      const slab = new GrowingSlab(source, region);
      const isThere = new Array<boolean>(product(region.shape)).fill(false);
      for (const piece of pieces) {
        slab.add(piece, undefined);
        const own = intersect(piece, region) ?? region;
        for (const coords of coordsOf(own.shape)) {
          const place = coords.map((c, d) => c + (own.start[d] ?? 0) - (region.start[d] ?? 0));
          isThere[indexOf(place, region.shape)] = true;
        }
        const missing = isThere.indexOf(false);
        expect(slab.ready).toBe(missing < 0 ? isThere.length : missing);
      }
      expect(slab.ready).toBe(product(region.shape));
    }),
    { numRuns: samples(1000) },
  );
});

test("takes several chunks that come as one, and has its data where they are made", () => {
  const selection = { start: [0, 0], step: [1, 1], shape: [4, 6] };
  const slab = new GrowingSlab(
    { selection, source: { chunkShape: [2, 2] } },
    { start: [2, 0], shape: [2, 6] },
  );
  expect(slab.slab).toBeUndefined();
  slab.add({ start: [0, 0], shape: [2, 6] }, undefined);
  expect(slab.ready).toBe(0);
  slab.add({ start: [2, 0], shape: [2, 4] }, undefined);
  expect(slab.ready).toBe(4);
  const bytes = new Uint8Array(12);
  slab.add(
    { start: [2, 4], shape: [2, 2] },
    { kind: "fixed", bytes, itemSize: 1, shape: [2, 6], strides: [6, 1] },
  );
  expect(slab.ready).toBe(12);
  expect(slab.slab?.data.bytes).toBe(bytes);
});
