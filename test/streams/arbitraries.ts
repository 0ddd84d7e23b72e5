import fc from "fast-check";
import { cStrides } from "../../src/util/shape.ts";

export function vector<T>(length: number, item: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(item, { minLength: length, maxLength: length });
}

/** Strides that give every item of a box a place of its own: any order of dimensions, with and without gaps. */
export function ownPlaces(shape: readonly number[]): fc.Arbitrary<number[]> {
  const order = shuffled([...shape.keys()]);
  const gaps = vector(shape.length, fc.constantFrom(1, 1, 1, 2, 3));
  return fc.oneof(
    fc.constant(cStrides(shape)),
    fc.tuple(order, gaps).map((given) => spread(shape, ...given)),
  );
}

/** Strides of a box without gaps, fastest dimension first in `order`. */
export function packedStrides(shape: readonly number[]): fc.Arbitrary<number[]> {
  const ones = shape.map(() => 1);
  return shuffled([...shape.keys()]).map((order) => spread(shape, order, ones));
}

function spread(shape: readonly number[], order: readonly number[], gaps: readonly number[]): number[] {
  const strides = shape.map(() => 0);
  let stride = 1;
  for (const d of order) {
    stride *= gaps[d] ?? 1;
    strides[d] = stride;
    stride *= Math.max(1, shape[d] ?? 1);
  }
  return strides;
}

/** All of `items`, in any order. */
export function shuffled<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...items], { minLength: items.length });
}
