import type { ZarrArray } from "../../../hierarchy/node.ts";
import { groupCoordinates } from "../../../meta/conventions/cf/references.ts";
import { findCoordinate, findGroup, findNamed } from "../../request/labels/find-coordinate.ts";

/** The coordinates of an array, each once. */
export interface Coordinates {
  /** By dimension; undefined where a dimension has none. */
  readonly ofDimensions: readonly (ZarrArray | undefined)[];
  /** What `coordinates` of the array and of its group name, over some of its dimensions, or none. */
  readonly others: readonly ZarrArray[];
}

/** The most names that are looked up: attributes may be anybody's. */
const MAX_NAMES = 100;

/**
 * Finds the coordinates of an array after the CF conventions, as xarray does.
 *
 * @param names of its dimensions
 */
export async function coordinatesOf(
  array: ZarrArray,
  names: readonly (string | null)[],
  signal: AbortSignal | undefined,
): Promise<Coordinates> {
  const lengthOf = (name: string | null) => array.shape[names.indexOf(name)];
  const fits = ({ shape, dimensionNames = [] }: ZarrArray) =>
    dimensionNames.length === shape.length &&
    shape.every((n, d) => n === lengthOf(dimensionNames[d] ?? null));
  const ofDimensions = await Promise.all(
    names.map(async (name, d) => {
      if (name === null || name === "" || names.indexOf(name) !== d) return undefined;
      const found = await findCoordinate({ array }, name, signal);
      return found?.shape[0] === array.shape[d] ? found : undefined;
    }),
  );
  const group = await findGroup(array, signal);
  const stated = [array.metadata.attributes, group?.metadata.attributes]
    .flatMap((attributes) => (attributes ? groupCoordinates(attributes) : []))
    .filter((name) => !names.includes(name));
  const others = await Promise.all(
    [...new Set(stated)]
      .slice(0, MAX_NAMES)
      .map((name) => findNamed({ array }, name, { isMeant: fits, signal })),
  );
  return { ofDimensions, others: others.flatMap((found) => found ?? []) };
}
