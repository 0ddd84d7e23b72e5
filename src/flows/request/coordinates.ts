import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { groupCoordinates } from "../../meta/conventions/cf/references.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { isCoordinate } from "./is-coordinate.ts";

/** Resolves the names that arrays state, in nodes that are open or by opening them. */
export interface NamedArrays {
  /** Returns the array that a name or path stated by an array refers to; undefined if there is none. */
  find(
    name: string,
    array: ZarrArray,
    isMeant?: (found: ZarrArray) => boolean,
  ): Awaitable<ZarrArray | undefined>;
  /** Returns the group that contains an array; undefined if there is none. */
  groupOf(array: ZarrArray): Awaitable<ZarrNode | undefined>;
  /** Maximum number of coordinates to look up besides those of dimensions, as attributes are untrusted. */
  readonly maxStated: number;
}

/** The coordinates of an array, without duplicates. */
export interface Coordinates {
  /** One per dimension; undefined for a dimension without coordinate. */
  readonly ofDimensions: readonly (ZarrArray | undefined)[];
  /** Arrays that `coordinates` of the array or its group names; they have some of its dimensions, or none. */
  readonly others: readonly ZarrArray[];
}

/**
 * Finds the coordinates of an array by the CF conventions, like xarray.
 *
 * @param names names of the array's dimensions
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
