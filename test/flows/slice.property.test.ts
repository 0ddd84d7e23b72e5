// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import { slice } from "../../src/flows/index.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { coordsOf, cStrides, product } from "../../src/util/shape.ts";
import { bytesOf } from "../support/consume.ts";
import { makeArray, naiveSlice, type Recipe } from "../support/made-array.ts";
import { rangesOf, rechunked } from "../support/recipes.ts";
import { samples } from "../support/samples.ts";

const sliced = rechunked.chain(({ recipe }) => rangesOf(recipe.shape).map((ranges) => ({ recipe, ranges })));

function selectionOf(ranges: readonly (readonly [number, number, number])[]) {
  return {
    start: ranges.map(([start]) => start),
    step: ranges.map(([, , step]) => step),
    shape: ranges.map(([start, stop, step]) => Math.max(0, Math.ceil((stop - start) / step))),
  };
}

/** Recipes whose items JavaScript holds as numbers, so that chunks() can be compared item by item. */
async function open(recipe: Recipe) {
  const made = await makeArray(recipe);
  return { made, array: await openArray(made.store) };
}

test("bytes() gives the items of the naive model in C order, whatever the budget", async () => {
  await fc.assert(
    fc.asyncProperty(sliced, fc.constantFrom(0, 8192, 1e7), async ({ recipe, ranges }, spare) => {
      const { made, array } = await open(recipe);
      const maxMemory = 4 * recipe.itemSize * product(recipe.chunks) + 4 * 4096 + spare;
      const found = await bytesOf(slice(array, ranges, { maxMemory }).bytes());
      expect(found.equals(naiveSlice(made, recipe, selectionOf(ranges)))).toBe(true);
    }),
    { numRuns: samples(200) },
  );
});

test("chunks() covers every item once, each where it belongs", async () => {
  await fc.assert(
    fc.asyncProperty(sliced, async ({ recipe, ranges }) => {
      const { made, array } = await open({ ...recipe, itemSize: 3 });
      const selection = selectionOf(ranges);
      const expected = naiveSlice(made, { ...recipe, itemSize: 3 }, selection);
      const strides = cStrides(selection.shape);
      const seen = new Set<number>();
      for await (const { region, data, shape, stride } of slice(array, ranges).chunks()) {
        for (const coords of coordsOf(shape)) {
          const at = coords.reduce((sum, c, d) => sum + (c + (region.start[d] ?? 0)) * (strides[d] ?? 0), 0);
          const value = data.at(coords.reduce((sum, c, d) => sum + c * (stride[d] ?? 0), 0));
          expect(value).toEqual(expected.slice(3 * at, 3 * at + 3));
          expect(seen.has(at)).toBe(false);
          seen.add(at);
        }
      }
      expect(seen.size).toBe(product(selection.shape));
    }),
    { numRuns: samples(100) },
  );
});

test("read() gives typed values in C order; an index drops its dimension", async () => {
  const recipe: Recipe = { shape: [5, 7], chunks: [2, 3], order: "F", itemSize: 4, missing: 0, seed: 7 };
  const { made, array } = await open(recipe);
  const { data, shape, stride } = await slice(array, [2, [1, 6, 2]]).read();
  expect(shape).toEqual([3]);
  expect(stride).toEqual([1]);
  const expected = naiveSlice(made, recipe, { start: [2, 1], step: [1, 2], shape: [1, 3] });
  expect([...data]).toEqual([0, 4, 8].map((at) => expected.slice(at, at + 4)));
});
