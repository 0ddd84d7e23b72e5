import type { JsonValue } from "../../../util/json-value.ts";
import { product } from "../../../util/shape.ts";
import { corrupt } from "../../failures.ts";

/**
 * The tree that `json2` and `msgpack2` of numcodecs store, each in its own encoding: one list of the items, nested by
 * shape, then the NumPy name of their type, then the shape.
 */

/** The items of a chunk in C order, and the type that the chunk states. */
export interface TreeItems {
  readonly items: readonly JsonValue[];
  readonly dtype: JsonValue;
}

/** @throws `corrupt-chunk` for another layout, or if the number of items differs from `expected`, if given. */
export function takeItems(tree: JsonValue, expected: number | undefined): TreeItems {
  const dtype = Array.isArray(tree) ? tree.at(-2) : undefined;
  const shape = Array.isArray(tree) ? tree.at(-1) : undefined;
  if (!Array.isArray(tree) || dtype === undefined || !isShape(shape)) {
    throw corrupt("the chunk is not a list that ends with a type and a shape");
  }
  if (expected !== undefined && product(shape) !== expected) {
    throw corrupt("the chunk has a wrong number of items", { expected, found: product(shape) });
  }
  const nested = tree.slice(0, -2);
  return { items: shape.length === 0 ? only(nested) : flatten(nested, shape), dtype };
}

/** Builds the tree from items in C order. */
export function makeTree(
  items: readonly JsonValue[],
  dtype: JsonValue,
  shape: readonly number[],
): JsonValue[] {
  let level: JsonValue[] = [...items];
  for (const n of shape.slice(1).reverse()) {
    level = Array.from({ length: n === 0 ? 0 : level.length / n }, (_, i) => level.slice(i * n, (i + 1) * n));
  }
  return [...level, dtype, [...shape]];
}

function isShape(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isInteger(n) && Number(n) >= 0);
}

function only(items: JsonValue[]): JsonValue[] {
  if (items.length === 1) return items;
  throw corrupt("the chunk has a wrong number of items", { expected: 1, found: items.length });
}

function flatten(nested: readonly JsonValue[], shape: readonly number[]): readonly JsonValue[] {
  let level = assertLength(nested, shape[0] ?? 0);
  for (const n of shape.slice(1)) level = level.flatMap((list) => assertLength(list, n));
  return level;
}

function assertLength(list: JsonValue | readonly JsonValue[], length: number): readonly JsonValue[] {
  if (Array.isArray(list) && list.length === length) return list;
  const found = Array.isArray(list) ? list.length : typeof list;
  throw corrupt("the nesting of the items does not match their shape", { expected: length, found });
}
