import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { numbersPerItem } from "../../meta/typed-array.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { typedValues } from "../slabs/typed-values.ts";
import { openSliceOptions, slice } from "../slice.ts";
import { isDrawn, numberDecoding } from "./decoding.ts";

/** Items of one answer, at most: a picture of about 1000 x 1000. */
export const MAX_ITEMS = 2 ** 20;

/** What is read along a dimension: `count` items from `start`, each `step` apart. */
export interface Cut {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** A part of an array as numbers in C order; what is missing is NaN. */
export interface Numbers {
  readonly data: Float32Array | Float64Array;
  /** The least and the largest finite number; absent where there is none. */
  readonly range?: readonly [number, number];
  /** How many are missing. */
  readonly missing: number;
}

/**
 * Reads a part of an array, within the memory budget.
 *
 * @throws `invalid-selection` for a part that is outside; `resource-limit` for one of more than 2^20 items;
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

/** @throws `unsupported-operation` for an array whose items are no numbers. */
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
