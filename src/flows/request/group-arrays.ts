import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { referencesOf } from "../../meta/conventions/cf/references.ts";
import { dimensionMeant } from "../../meta/dimension-names.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, folderOf, lastName } from "../../util/node-path.ts";

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
