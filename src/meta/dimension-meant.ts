import { nearestName } from "../util/nearest-name.ts";
import { lastName } from "../util/node-path.ts";
import type { ArrayMetadata } from "./array-metadata.ts";
import { severalDimensions } from "./dimension-names.ts";

/** An array with its path and the names of its dimensions. */
interface NamedArray {
  readonly path: string;
  readonly metadata: Pick<ArrayMetadata, "shape" | "dimensionNames">;
}

/**
 * Returns a hint for an unknown dimension name: a similar name, or the dimensions of a multidimensional coordinate
 * that has this name.
 */
export function dimensionMeant(name: string, arrays: readonly NamedArray[], whose: string): string {
  const curvilinear = arrays.find(
    ({ path, metadata }) => lastName(path) === name && metadata.shape.length > 1,
  );
  if (curvilinear) return severalDimensions(name, curvilinear.metadata.dimensionNames ?? []);
  const names = arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []);
  const known = [...new Set(names)].filter((one) => one !== null);
  const near = nearestName(name, known);
  return near ? `Did you mean \`${near}\`?` : `${whose} dimensions are ${known.join(", ") || "not named"}.`;
}
