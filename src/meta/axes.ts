import type { ArrayMetadata } from "./array-metadata.ts";

/** Names of dimensions that are stated elsewhere than at the arrays themselves, by path of the array. */
export type Axes = ReadonlyMap<string, readonly string[]>;

/**
 * An array as its dimensions are asked for by name: where it names none, by the names of the image it is a level of.
 * Written only where the image stays behind, as these are no part of its own metadata.
 */
export function withAxes(metadata: ArrayMetadata, axes: readonly string[] | undefined): ArrayMetadata {
  const isNamed = metadata.dimensionNames?.some((name) => name !== null);
  return axes === undefined || isNamed || axes.length !== metadata.shape.length
    ? metadata
    : { ...metadata, dimensionNames: axes };
}
