import { withAxes } from "../meta/dimension-names.ts";
import { isObject } from "../util/check-options.ts";
import { nameOf } from "./array-name.ts";
import type { ZarrArray } from "./node.ts";
import { axesFromAbove } from "./open/axes-from-above.ts";
import { type ResolvedSlice, resolveSlice, type SliceOption } from "./slice-option.ts";

/**
 * Resolves `option` to items of an open array. Dimensions can also have the names of axes, if the array is a level of
 * an image.
 *
 * @throws as `resolveSlice`
 */
export async function resolveArraySlice(
  option: SliceOption,
  array: ZarrArray,
  signal: AbortSignal | undefined,
): Promise<ResolvedSlice> {
  const isByName = isObject(option) && !Array.isArray(option) && Object.keys(option).length > 0;
  const axes = isByName ? await axesFromAbove(array, signal) : undefined;
  return resolveSlice(option, withAxes(array.metadata, axes), array.path, {
    name: nameOf(array),
  });
}
