import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { groupCoordinates, referencesOf } from "../../meta/conventions/cf/references.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { ancestorPaths, isAtOrBelow, joinKey } from "../../util/node-path.ts";

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

/** The nodes that names are looked up in. */
export interface NamedNodes {
  /** Path of the topmost group to search. */
  readonly root: string;
  /** Returns the node at a path; undefined if it does not exist or may not be taken. */
  find(path: string): Awaitable<ZarrNode | undefined>;
}

/**
 * Finds the arrays that describe others: coordinates of their dimensions, coordinates that their groups state for
 * all arrays with these dimensions, and arrays named by CF attributes. The latter includes those named by
 * companions, such as the bounds of a coordinate. A name is looked up in the group of the array that states it,
 * then in the groups above.
 */
export async function companionsOf(
  asked: readonly ZarrArray[],
  nodes: NamedNodes,
): Promise<readonly ZarrArray[]> {
  const known = new Set(asked.map(({ path }) => path));
  const companions: ZarrArray[] = [];
  const add = (found: readonly (ZarrArray | undefined)[]) => {
    for (const array of found) {
      if (array === undefined || known.has(array.path)) continue;
      known.add(array.path);
      companions.push(array);
    }
  };
  const arrays = arraysAmong(nodes);
  const referredTo = (array: ZarrArray) =>
    Promise.all(referencesOf(array.metadata.attributes).map((name) => arrays.find(name, array)));
  for (const array of asked) {
    const { ofDimensions, others } = await coordinatesOf(array, array.dimensionNames ?? [], arrays);
    add([...ofDimensions, ...others]);
  }
  for (const array of asked) add(await referredTo(array));
  for (const array of companions) add(await referredTo(array));
  return companions;
}

function arraysAmong(nodes: NamedNodes): NamedArrays {
  return {
    async find(name, array, isMeant = () => true) {
      for (const path of pathsOf(name, groupsOf(array, nodes), nodes.root)) {
        const found = await nodes.find(path);
        if (found?.kind === "array" && isMeant(found)) return found;
      }
      return undefined;
    },
    groupOf(array) {
      const [group = ""] = groupsOf(array, nodes);
      return nodes.find(group);
    },
    maxStated: Number.POSITIVE_INFINITY,
  };
}

/** Paths of the groups that contain an array, nearest first. */
function groupsOf({ path }: ZarrArray, { root }: NamedNodes): string[] {
  return ancestorPaths(path)
    .filter((group) => isAtOrBelow(group, root))
    .toReversed();
}

/** Maximum length of a name or path to look for. */
const MAX_NAME = 1024;

/**
 * Returns the paths that a name stated in a group may refer to. A bare name is looked for in each of the groups, a
 * relative path from the nearest group, an absolute one from the root. Empty if no node can be there.
 */
function pathsOf(name: string, groups: readonly string[], root: string): string[] {
  if (name.length > MAX_NAME || /^\.*$|[\\\0]/.test(name)) return [];
  if (!name.includes("/")) return groups.map((group) => joinKey(group, name));
  const from = name.startsWith("/") ? root : (groups[0] ?? root);
  const names = from === "" ? [] : from.split("/");
  const least = root === "" ? 0 : root.split("/").length;
  for (const part of name.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") names.push(part);
    else if (names.length > least) names.pop();
    else return [];
  }
  return [names.join("/")];
}

/** True if a node is a 1-d array whose dimension, if named, has this name. */
export function isCoordinate(node: ZarrNode, dimension: string): node is ZarrArray {
  if (node.kind !== "array" || node.shape.length !== 1) return false;
  const name = node.dimensionNames?.[0] ?? null;
  return name === null || name === dimension;
}
