import { foundOnce } from "../../util/found-once.ts";
import type { ZarrArray } from "../node.ts";

/** Those of open arrays, each looked for once. */
const looked = new WeakMap<ZarrArray, Promise<readonly string[] | undefined>>();

/**
 * Names of the axes of the image that an array is a level of, as a group above it states them, beyond the root of the
 * store too. Undefined for an array that names its dimensions itself, and where no group says anything.
 */
export async function axesFromAbove(
  array: ZarrArray,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (array.dimensionNames?.some((name) => name !== null)) return undefined;
  const find = async () => (await import("./image-above.ts")).axesOfImageAbove(array);
  return foundOnce(looked, array, find, signal);
}
