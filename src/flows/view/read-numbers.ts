import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { numbersPerItem } from "../../meta/typed-array.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { typedValues } from "../slabs/typed-values.ts";
import { openSliceOptions, slice } from "../slice.ts";
import { isDrawn, numberDecoding } from "./decoding.ts";

/** Limit of items in one response: a picture of about 1000 x 1000. */
export const MAX_ITEMS = 2 ** 20;

/** Selection along a dimension: `count` items from `start`, `step` apart. */
export interface Cut {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** A part of an array as numbers in C order; missing items are NaN. */
export interface Numbers {
  readonly data: Float32Array | Float64Array;
  /** Smallest and largest finite number; absent if there is none. */
  readonly range?: readonly [number, number];
  /** Number of missing items. */
  readonly missing: number;
}

/**
 * Reads a part of an array as numbers, within the memory budget.
 *
 * @throws `invalid-selection` for a part outside the array; `resource-limit` for more than 2^20 items;
 *   `unsupported-operation` for an array without numbers.
 */
export async function readNumbers(
  array: ZarrArray,
  cuts: readonly Cut[],
  options: ReadOptions,
): Promise<Numbers> {
  const { metadata, path } = array;
  assertDrawn(array);
  const count = product(cuts.map((cut) => cut.count));
  if (count > MAX_ITEMS) {
    throw new ZarrflowError("resource-limit", "too many items for one picture", {
      path,
      expected: MAX_ITEMS,
      found: count,
    });
  }
  const { numbers, decode, isSingle } = numberDecoding(array);
  const data = isSingle ? new Float32Array(count) : new Float64Array(count);
  const parts = numbersPerItem(metadata.dataType);
  let [at, missing, low, high] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const ranges = cuts.map(({ start, step, count }) => [start, start + (count - 1) * step + 1, step] as const);
  for await (const { data: items } of slice(array, ranges, {
    ...openSliceOptions(options),
    consistent: true,
  }).slabs()) {
    const values = numbers(typedValues(items, metadata.dataType));
    for (let i = 0; i < values.length; i += parts) {
      const stored = values[i] ?? 0;
      const number = parts === 1 ? decode(stored) : Math.hypot(Number(stored), Number(values[i + 1]));
      data[at++] = number;
      if (Number.isNaN(number)) missing++;
      else if (Number.isFinite(number)) {
        if (number < low) low = number;
        if (number > high) high = number;
      }
    }
  }
  return { data, missing, ...(low <= high && { range: [low, high] }) };
}

/** @throws `unsupported-operation` for an array whose items are not numbers. */
export function assertDrawn({ metadata, dataType, path }: ZarrArray): void {
  if (isDrawn(metadata)) return;
  throw new ZarrflowError(
    "unsupported-operation",
    `values of ${dataType} are no numbers, and cannot be drawn`,
    {
      path,
      hint: "Print them with `zarrflow slice URL --format json`.",
    },
  );
}
