import type { JsonObject } from "../../util/json-value.ts";
import { folderOf } from "../../util/node-path.ts";
import type { ArrayMetadata } from "../array-metadata.ts";
import { multiscalesOf } from "./ome/multiscales.ts";

/** The dimensions of an array, with its path. */
export interface DimensionedArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dimensionNames?: readonly (string | null)[] | undefined;
}

/** A dimension with two lengths in one group. Readers such as xarray cannot open such a group as a data set. */
export interface DimensionConflict {
  /** Path of the group. */
  readonly group: string;
  readonly name: string;
  readonly a: { readonly path: string; readonly length: number };
  readonly b: { readonly path: string; readonly length: number };
}

/**
 * Finds dimensions that have different lengths in arrays of one group, and reports the first two arrays for each.
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

/** True if the attributes describe an image or a geographic data set in several resolutions. */
export function areOfImage(attributes: JsonObject): boolean {
  return multiscalesOf(attributes).length > 0 || "multiscales" in attributes;
}

/** Returns the dimensions of an array from its metadata. */
export function dimensionsOf(path: string, { shape, dimensionNames }: ArrayMetadata): DimensionedArray {
  return { path, shape, dimensionNames };
}
