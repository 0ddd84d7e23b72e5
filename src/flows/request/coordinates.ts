import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { groupCoordinates } from "../../meta/conventions/cf/references.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { isCoordinate } from "./is-coordinate.ts";

/** Where names are looked up that arrays state: among nodes that are open, or by opening what has the name. */
export interface NamedArrays {
  /** The array that a name or a path means for an array; undefined where there is none. */
  find(
    name: string,
    array: ZarrArray,
    isMeant?: (found: ZarrArray) => boolean,
  ): Awaitable<ZarrArray | undefined>;
  /** The group that an array is in; undefined where there is none. */
  groupOf(array: ZarrArray): Awaitable<ZarrNode | undefined>;
  /** The most coordinates that are looked up besides those of dimensions: attributes may be anybody's. */
  readonly maxStated: number;
}

/** The coordinates of an array, each once. */
export interface Coordinates {
  /** By dimension; undefined where a dimension has none. */
  readonly ofDimensions: readonly (ZarrArray | undefined)[];
  /** What `coordinates` of the array and of its group name, over some of its dimensions, or none. */
  readonly others: readonly ZarrArray[];
}

/**
 * Finds the coordinates of an array after the CF conventions, as xarray does.
 *
 * @param names of its dimensions
 */
export async function coordinatesOf(
  array: ZarrArray,
  names: readonly (string | null)[],
  arrays: NamedArrays,
): Promise<Coordinates> {
  const lengthOf = (name: string | null) => array.shape[names.indexOf(name)];
  const fits = ({ shape, dimensionNames = [] }: ZarrArray) =>
    dimensionNames.length === shape.length &&
    shape.every((n, d) => n === lengthOf(dimensionNames[d] ?? null));
  const ofDimensions = await Promise.all(
    names.map((name, d) => {
      if (name === null || name === "" || names.indexOf(name) !== d) return undefined;
      const isMeant = (found: ZarrArray) => isCoordinate(found, name) && found.shape[0] === array.shape[d];
      return arrays.find(name, array, isMeant);
    }),
  );
  const group = await arrays.groupOf(array);
  const stated = [array.metadata.attributes, group?.kind === "group" ? group.metadata.attributes : undefined]
    .flatMap((attributes) => (attributes ? groupCoordinates(attributes) : []))
    .filter((name) => !names.includes(name));
  const others = await Promise.all(
    [...new Set(stated)].slice(0, arrays.maxStated).map((name) => arrays.find(name, array, fits)),
  );
  return { ofDimensions, others: others.flatMap((found) => found ?? []) };
}
