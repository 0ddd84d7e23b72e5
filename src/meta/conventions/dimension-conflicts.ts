import type { JsonObject } from "../../util/json-value.ts";
import { folderOf } from "../../util/node-path.ts";
import type { ArrayMetadata } from "../array-metadata.ts";
import { multiscalesOf } from "./ome/multiscales.ts";

/** An array by its path, as far as its dimensions go. */
export interface DimensionedArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dimensionNames?: readonly (string | null)[] | undefined;
}

/** A dimension that has two lengths in one group: readers such as xarray cannot open that as a data set. */
export interface DimensionConflict {
  /** Path of the group. */
  readonly group: string;
  readonly name: string;
  readonly a: { readonly path: string; readonly length: number };
  readonly b: { readonly path: string; readonly length: number };
}

/**
 * Dimensions that arrays side by side have with different lengths, the first two of each.
 *
 * @param isImage whether a group is an image, whose levels differ by design
 */
export function dimensionConflicts(
  arrays: Iterable<DimensionedArray>,
  isImage: (group: string) => boolean,
): DimensionConflict[] {
  const firsts = new Map<string, { readonly path: string; readonly length: number }>();
  const found = new Map<string, DimensionConflict>();
  for (const { path, shape, dimensionNames = [] } of arrays) {
    const group = folderOf(path);
    if (path === "" || isImage(group)) continue;
    for (const [d, name] of dimensionNames.entries()) {
      const length = shape[d];
      if (name === null || length === undefined) continue;
      const id = JSON.stringify([group, name]);
      const first = firsts.get(id) ?? { path, length };
      firsts.set(id, first);
      if (first.length !== length && !found.has(id))
        found.set(id, { group, name, a: first, b: { path, length } });
    }
  }
  return [...found.values()];
}

/** Whether attributes are those of an image in several resolutions, also of a geographic one. */
export function areOfImage(attributes: JsonObject): boolean {
  return multiscalesOf(attributes).length > 0 || "multiscales" in attributes;
}

/** The dimensions of an array, by its metadata. */
export function dimensionsOf(path: string, { shape, dimensionNames }: ArrayMetadata): DimensionedArray {
  return { path, shape, dimensionNames };
}
