import fc from "fast-check";
import { product } from "../../src/util/shape.ts";
import type { Recipe } from "./made-array.ts";

const axis = fc.record({
  n: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 13 }) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  chunk: fc.integer({ min: 1, max: 7 }),
  newChunk: fc.integer({ min: 1, max: 15 }),
});

/** Recipes of arrays of rank 0 to 4, with a chunk shape to rechunk them to. */
export const rechunked: fc.Arbitrary<{ recipe: Recipe; chunks: number[] }> = fc
  .record({
    axes: fc.array(axis, { maxLength: 4 }).filter((axes) => product(axes.map(({ n }) => n)) <= 2000),
    order: fc.constantFrom("C" as const, "F" as const),
    itemSize: fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 16),
    missing: fc.constantFrom(0, 0, 0.3, 1),
    seed: fc.nat(1e6),
  })
  .map(({ axes, ...rest }) => ({
    recipe: { shape: axes.map(({ n }) => n), chunks: axes.map(({ chunk }) => chunk), ...rest },
    chunks: axes.map(({ newChunk }) => newChunk),
  }));

/** A selection with steps of an array of `shape`, as ranges. */
export function rangesOf(shape: readonly number[]): fc.Arbitrary<[number, number, number][]> {
  const range = (n: number) =>
    fc
      .tuple(fc.nat(n), fc.nat(n), fc.integer({ min: 1, max: 5 }))
      .map(([a, b, step]): [number, number, number] => [Math.min(a, b), Math.max(a, b), step]);
  return fc.tuple(...shape.map(range));
}

/** A recipe, with a selection of its array. */
export const slicedRecipes = rechunked.chain(({ recipe }) =>
  rangesOf(recipe.shape).map((ranges) => ({ recipe, ranges })),
);

/** Ranges as the naive model takes them. */
export function selectionOf(ranges: readonly (readonly [number, number, number])[]) {
  return {
    start: ranges.map(([start]) => start),
    step: ranges.map(([, , step]) => step),
    shape: ranges.map(([start, stop, step]) => Math.max(0, Math.ceil((stop - start) / step))),
  };
}
