import type { ZarrArray } from "../../hierarchy/node.ts";
import type { OpenSliceOptions } from "../../hierarchy/slice.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";

export interface RangeOptions extends Pick<OpenSliceOptions, "signal" | "maxMemory"> {
  /** Part of the array to read; by default everything. */
  readonly selection?: Selection | undefined;
}

/** Smallest and largest value of an array of floats, ignoring NaN; undefined if there are no others. */
export async function valueRange(
  array: ZarrArray,
  { selection, ...options }: RangeOptions,
): Promise<readonly [least: number, largest: number] | undefined> {
  let least = Number.POSITIVE_INFINITY;
  let largest = Number.NEGATIVE_INFINITY;
  for await (const { data } of array.slice(rangesOf(selection), options).chunks()) {
    const values = data as ArrayLike<number>;
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      if (value < least) least = value;
      if (value > largest) largest = value;
    }
  }
  if (least > largest) return undefined;
  if (Number.isFinite(least) && Number.isFinite(largest)) return [least, largest];
  throw new ZarrflowError("invalid-option", "values that are infinite cannot be packed", {
    path: array.path,
    hint: 'Give scale and offset, with `overflow: "clamp"`, or replace them with `map`.',
  });
}

/** Ranges equal to a selection; the whole array for a cyclic selection, which ranges cannot express. */
function rangesOf(selection: Selection | undefined): (readonly [number, number, number])[] {
  if (selection === undefined || selection.cycle) return [];
  const { start, step, shape } = selection;
  return start.map((from, d) => [
    from,
    from + (step[d] ?? 1) * Math.max(0, (shape[d] ?? 0) - 1) + 1,
    step[d] ?? 1,
  ]);
}
