import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { groupCoordinates, referencesOf } from "../../meta/conventions/cf/references.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { ancestorPaths, isAtOrBelow } from "../../util/node-path.ts";
import { isCoordinate } from "./is-coordinate.ts";

/** The nodes among which names are looked up. */
export interface NamedNodes {
  /** Path of the group above which nothing is looked up. */
  readonly root: string;
  /** The node at a path; undefined where there is none, or none that may be taken. */
  find(path: string): Awaitable<ZarrNode | undefined>;
}

/**
 * What belongs to arrays, besides these: the coordinates of their dimensions, those that their groups give to all
 * arrays that have the dimensions, and what attributes of CF name, also of what comes along itself, such as the bounds of a
 * coordinate. A name is looked up in the group of the array that states it, then in the groups above.
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
  for (const array of asked) add(await coordinatesOf(array, nodes));
  for (const array of asked) add(await referredTo(array, nodes));
  for (const array of companions) add(await referredTo(array, nodes));
  return companions;
}

/** The 1-d coordinates of an array's dimensions, and those that its group states for the dimensions. */
async function coordinatesOf(array: ZarrArray, nodes: NamedNodes): Promise<(ZarrArray | undefined)[]> {
  const { dimensionNames = [], shape } = array;
  const ofDimensions = dimensionNames.map((name, d) => {
    if (name === null) return undefined;
    return lookUp(name, array, nodes, (found) => isCoordinate(found, name) && found.shape[0] === shape[d]);
  });
  const [group = ""] = groupsOf(array, nodes);
  const own = await nodes.find(group);
  const stated = own?.kind === "group" ? groupCoordinates(own.metadata.attributes) : [];
  const ofGroup = stated.map((name) => lookUp(name, array, nodes, (found) => hasDimensionsOf(array, found)));
  return Promise.all([...ofDimensions, ...ofGroup]);
}

function referredTo(array: ZarrArray, nodes: NamedNodes): Promise<(ZarrArray | undefined)[]> {
  return Promise.all(referencesOf(array.metadata.attributes).map((name) => lookUp(name, array, nodes)));
}

function hasDimensionsOf(
  { dimensionNames = [] }: ZarrArray,
  { dimensionNames: names, shape }: ZarrArray,
): boolean {
  return (
    shape.length === 0 || names?.every((name) => name !== null && dimensionNames.includes(name)) === true
  );
}

/** The array that a name or a path means for an array. */
async function lookUp(
  name: string,
  array: ZarrArray,
  nodes: NamedNodes,
  isMeant: (found: ZarrArray) => boolean = () => true,
): Promise<ZarrArray | undefined> {
  for (const path of pathsOf(name, groupsOf(array, nodes), nodes.root)) {
    const found = await nodes.find(path);
    if (found?.kind === "array" && isMeant(found)) return found;
  }
  return undefined;
}

/** Paths of the groups that an array is in, the nearest first. */
function groupsOf({ path }: ZarrArray, { root }: NamedNodes): string[] {
  return ancestorPaths(path)
    .filter((group) => isAtOrBelow(group, root))
    .toReversed();
}

/** The longest name or path that is looked for. */
const MAX_NAME = 1024;

/**
 * Where something may be that is named in a group: beside it or above it, or at a path from there or from the root; nowhere
 * if no node can be there.
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
