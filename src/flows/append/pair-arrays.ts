import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { dimensionMeant, withAxes } from "../../meta/dimension-names.ts";
import { wholeNumber } from "../../util/decimal.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { belowPath, folderOf, lastName } from "../../util/node-path.ts";

/** An array that source and target have, by its path below the roots. */
export interface ArrayPair {
  readonly path: string;
  readonly source: ZarrArray;
  readonly target: ZarrArray;
}

/** A pair whose target grows. */
export interface AppendedPair extends ArrayPair {
  /** The dimension along which it grows. */
  readonly axis: number;
  /** Its length along the axis before the append. */
  readonly length: number;
}

export interface Pairs {
  readonly appended: readonly AppendedPair[];
  /** Arrays without the dimension, which must be equal. */
  readonly others: readonly ArrayPair[];
}

/** The arrays at and below a node, by path from there. */
export async function arraysBelowNode(
  root: ZarrNode,
  signal: AbortSignal | undefined,
): Promise<Map<string, ZarrArray>> {
  if (root.kind === "array") return new Map([["", root]]);
  const arrays = new Map<string, ZarrArray>();
  for await (const node of walk(root, { signal })) {
    if (node.kind === "array") arrays.set(belowPath(root.path, node.path), node);
  }
  return arrays;
}

/**
 * Pairs each array of the source with the array of the target that it is appended to. All arrays of a group must have
 * one length along the dimension. Arrays that an interrupted append has already grown count with their previous length.
 *
 * @throws `invalid-option` if the target lacks the dimension; `differs` for an array that one side lacks, and for
 *   lengths that do not agree.
 */
export function pairArrays(
  from: ReadonlyMap<string, ZarrArray>,
  to: ReadonlyMap<string, ZarrArray>,
  dim: string,
  axes: AxesOfArrays = new Map(),
): Pairs {
  const axis = (array: ZarrArray) => axisOf(array, dim, axes);
  const growing = [...to].filter(([, array]) => axis(array) >= 0);
  if (growing.length === 0) throw noDimension(dim, [...to.values()], axes);
  const wide = [...from].find(([path, array]) => axis(array) >= 0 && !to.has(path));
  const missing = growing.find(([path]) => !from.has(path));
  if (missing) throw lacks("source", missing[0], `which has the dimension \`${dim}\` in the target`);
  if (wide) throw lacks("target", wide[0], `which has the dimension \`${dim}\` in the source`);
  const others: ArrayPair[] = [];
  const appended: ArrayPair[] = [];
  for (const [path, array] of from) {
    const found = to.get(path);
    if (found === undefined) throw lacks("target", path, "which the source has");
    (axis(found) >= 0 ? appended : others).push({ path, source: array, target: found });
  }
  return { appended: withLengths(appended, dim, axis), others };
}

/** Axis names that images state for their levels, which have no dimension names of their own. */
export type AxesOfArrays = ReadonlyMap<ZarrArray, readonly string[]>;

/** Dimension with a name; or with a number, for an array without names. */
function axisOf(array: ZarrArray, dim: string, axes: AxesOfArrays): number {
  const { dimensionNames, shape } = array;
  const named = axes.get(array)?.indexOf(dim) ?? -1;
  if (named >= 0) return named;
  if (dimensionNames) return dimensionNames.indexOf(dim);
  const axis = wholeNumber(dim) ?? -1;
  return axis < shape.length ? axis : -1;
}

/** True if an array is the coordinate of the dimension that grows. */
export function isGrowingCoordinate({ path, target }: ArrayPair, dim: string): boolean {
  return target.shape.length === 1 && lastName(path) === dim;
}

/**
 * Adds each target's length before the append: that of its group's coordinate, which grows last, or the least length.
 */
function withLengths(
  pairs: readonly ArrayPair[],
  dim: string,
  axis: (array: ZarrArray) => number,
): AppendedPair[] {
  const groups = new Map<string, ArrayPair[]>();
  for (const pair of pairs)
    groups.set(folderOf(pair.path), [...(groups.get(folderOf(pair.path)) ?? []), pair]);
  return [...groups.values()].flatMap((group) => {
    const sizes = (side: "source" | "target") =>
      group.map((pair) => pair[side].shape[axis(pair.target)] ?? 0);
    const coordinate = group.findIndex((pair) => isGrowingCoordinate(pair, dim));
    const length = sizes("target")[coordinate] ?? Math.min(...sizes("target"));
    const [added = 0] = sizes("source");
    return group.map((pair, i): AppendedPair => {
      const [of, size] = [sizes("source")[i] ?? 0, sizes("target")[i] ?? 0];
      if (of !== added) throw otherLength("source", pair, added, of);
      if (size !== length && size !== length + added) throw otherLength("target", pair, length, size);
      return { ...pair, axis: axis(pair.target), length };
    });
  });
}

function otherLength(side: string, { path }: ArrayPair, expected: number, found: number): ZarrflowError {
  return new ZarrflowError("differs", `the ${side} has arrays of different lengths along the dimension`, {
    path,
    expected,
    found,
  });
}

function noDimension(dim: string, arrays: readonly ZarrArray[], axes: AxesOfArrays): ZarrflowError {
  const named = arrays.map((array) => ({
    path: array.path,
    metadata: withAxes(array.metadata, axes.get(array)),
  }));
  const names = new Set(named.flatMap(({ metadata }) => metadata.dimensionNames ?? []));
  const known = [...names].filter((name) => name !== null);
  const hint =
    known.length === 0
      ? "Its arrays have no dimension names: give the number of the dimension, such as 0."
      : dimensionMeant(dim, named, "The target's");
  return new ZarrflowError("invalid-option", `no array of the target has the dimension \`${dim}\``, {
    hint,
  });
}

function lacks(side: string, path: string, why: string): ZarrflowError {
  return new ZarrflowError("differs", `the ${side} lacks \`${path}\`, ${why}`, {
    hint: "Append data sets that have the same arrays, or append single arrays.",
  });
}
