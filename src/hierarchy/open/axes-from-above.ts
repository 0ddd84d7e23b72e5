import { foundOnce } from "../../util/found-once.ts";
import type { ZarrArray } from "../node.ts";

/** Axis names of open arrays; each array is examined once. */
const looked = new WeakMap<ZarrArray, Promise<readonly string[] | undefined>>();

/**
 * Returns the axis names of the image that an array is a level of, stated by a group above it, possibly above the root
 * of the store. Undefined if the array names its own dimensions, or if no group states any.
 */
export async function axesFromAbove(
  array: ZarrArray,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (array.dimensionNames?.some((name) => name !== null)) return undefined;
  const find = async () => (await import("./image-above.ts")).axesOfImageAbove(array);
  return foundOnce(looked, array, find, signal);
}
