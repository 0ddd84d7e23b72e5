import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { groupCoordinates, referencesOf } from "../../meta/conventions/cf/references.ts";
import { dimensionMeant } from "../../meta/dimension-names.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, folderOf, isAtOrBelow, joinKey, lastName } from "../../util/node-path.ts";

/** An array of a group and its path. */
export interface GroupArray {
  readonly path: string;
  readonly metadata: ArrayMetadata;
}

/** True if an array is 1-d and named after its dimension. */
export function isDimensionCoordinate({ path, metadata: { shape, dimensionNames } }: GroupArray): boolean {
  return shape.length === 1 && dimensionNames?.[0] === lastName(path);
}

/** A group or array that is taken whole although it may have a sliced dimension. */
export interface TakenWhole {
  readonly path: string;
  readonly reason: string;
}

/** The length of a dimension in one array. */
export interface Length {
  readonly path: string;
  readonly length: number;
}

/**
 * Finds the array whose items the ranges of a dimension count. Of the outermost groups with the dimension, this is
 * the array with most items, so the finest of several levels. Undefined if no array has the dimension.
 */
export function leaderOf<A extends GroupArray>(name: string, arrays: readonly A[]): A | undefined {
  const length = ({ metadata: { shape, dimensionNames = [] } }: A) => shape[dimensionNames.indexOf(name)];
  const having = arrays.filter((array) => length(array) !== undefined);
  const groups = new Set(having.map(groupOf));
  const isBelow = (array: A) => ancestorPaths(groupOf(array)).some((above) => groups.has(above));
  const [first] = having
    .filter((array) => !isBelow(array))
    .toSorted((a, b) => (length(b) ?? 0) - (length(a) ?? 0) || depth(a) - depth(b));
  return first;
}

/**
 * Finds the arrays to cut: those in which each named dimension is as long as in its leading array. Also returns the
 * outermost groups in which it has another length.
 *
 * @throws `invalid-selection` for a dimension that no array has, and for two lengths in one group.
 */
export function withOneLength(names: readonly string[], arrays: readonly GroupArray[]) {
  const differing = new Map<string, string>();
  for (const name of names) {
    const leader = leaderOf(name, arrays);
    const lengths = lengthsOf(name, arrays);
    const first = lengths.find(({ path }) => path === leader?.path);
    if (first === undefined) throw noDimension(name, arrays);
    for (const other of lengths.toSorted((a, b) => depth(a) - depth(b))) {
      if (other.length === first.length) continue;
      if (groupOf(other) === groupOf(first)) throw otherLength(name, other, first);
      const group = groupOf(other);
      if (!differing.has(group)) differing.set(group, lengthsDiffer(name, first, other));
    }
  }
  const isInDiffering = ({ path }: { readonly path: string }) =>
    ancestorPaths(path).some((group) => differing.has(group));
  const cut = arrays.filter((array) => !isInDiffering(array));
  const lost = names.find((name) => lengthsOf(name, cut).length === 0);
  if (lost !== undefined) throw allTakenWhole(lost, [...differing.values()][0] ?? "");
  const takenWhole = [...differing].map(([path, reason]): TakenWhole => ({ path, reason }));
  return { cut, takenWhole: takenWhole.filter((group) => !isInDiffering(group)) };
}

function lengthsOf(name: string, arrays: readonly GroupArray[]): Length[] {
  return arrays.flatMap(({ path, metadata: { shape, dimensionNames = [] } }) => {
    const length = shape[dimensionNames.indexOf(name)];
    return length === undefined ? [] : [{ path, length }];
  });
}

/** Path of the group that contains an array. */
export function groupOf({ path }: { readonly path: string }): string {
  return folderOf(path);
}

function depth({ path }: { readonly path: string }): number {
  return path.split("/").length;
}

/** Message about a dimension with two lengths. */
export function lengthsDiffer(name: string, first: Length, other: Length): string {
  return `dimension ${name} has ${first.length} items in ${first.path}, and ${other.length} in ${other.path}`;
}

function otherLength(name: string, other: Length, first: Length): ZarrflowError {
  return new ZarrflowError("invalid-selection", lengthsDiffer(name, first, other), {
    path: other.path,
    hint: "Slice one array, or one group, at a time.",
  });
}

function allTakenWhole(name: string, reason: string): ZarrflowError {
  return new ZarrflowError(
    "invalid-selection",
    `no array with the dimension ${name} can be sliced along all dimensions: ${reason}`,
    { hint: "Slice one group at a time." },
  );
}

function noDimension(name: string, arrays: readonly GroupArray[]): ZarrflowError {
  const [reason, hint] =
    arrays.length === 0
      ? ["there is no array to slice", "Check --include and --exclude."]
      : [`no array of the group has the dimension \`${name}\``, dimensionMeant(name, arrays, "The group's")];
  return new ZarrflowError("invalid-selection", reason, { hint });
}

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
  /**
   * Arrays named in the attribute `coordinates` of the array or its group; they have some of the array's dimensions, or
   * none.
   */
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
