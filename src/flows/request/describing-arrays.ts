import { referencesOf } from "../../meta/conventions/cf/references.ts";
import { lastName } from "../../util/node-path.ts";
import { type GroupArray, isDimensionCoordinate } from "./dimension-lengths.ts";

/** Paths of the arrays that describe others: coordinates of dimensions, and arrays that attributes of others name. */
export function describingArrays(arrays: readonly GroupArray[]): ReadonlySet<string> {
  const coordinates = arrays.filter(isDimensionCoordinate).map(({ path }) => path);
  return new Set([...coordinates, ...arrays.flatMap((array) => pathsNamedBy(array, arrays))]);
}

/** Paths of the other arrays that the attributes of an array name. */
function pathsNamedBy({ path, metadata }: GroupArray, arrays: readonly GroupArray[]): string[] {
  const names = new Set(referencesOf(metadata.attributes).map(lastName));
  return arrays
    .filter((other) => other.path !== path && names.has(lastName(other.path)))
    .map((other) => other.path);
}
