import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { onlyItem } from "../../meta/assert-json.ts";
import { packingOf } from "../../meta/conventions/cf/packing.ts";
import { type TimeCoding, timeCodingOf } from "../../meta/conventions/cf/time.ts";
import { missingValueOf } from "../../meta/conventions/missing-values.ts";
import { dimensionMeant, withAxes } from "../../meta/dimension-names.ts";
import { type CompareOptions, compareValues, itemJson } from "../../run/compare-values.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { belowPath, folderOf, lastName } from "../../util/node-path.ts";
import { parseWholeNumber } from "../../util/numbers.ts";
import { isComparable } from "../diff/compare-metadata.ts";
import {
  type Coordinate,
  type CoordinateOptions,
  compareLabels,
  type Key,
} from "../request/labels/coordinate.ts";
import { openCoordinate } from "../request/labels/find-coordinate.ts";

/**
 * Asserts that the values of a coordinate continue those of the target in the same direction. Coordinates of text are
 * not checked.
 *
 * @throws `invalid-option` with the last value of the target and the first of the source.
 */
export async function assertContinues(
  { path, source, target, length }: AppendedPair,
  options: CoordinateOptions,
): Promise<void> {
  const after = await openCoordinate(source, options);
  const before = await openCoordinate(target, options);
  if (!before.scale.isMeasured) return;
  const text = (key: Key | undefined) => (key === undefined ? "nothing" : before.scale.text(key));
  const [last, oneBefore] = [await keyAt(before, length - 1), await keyAt(before, length - 2)];
  const keys = await after.all();
  const [first, second] = keys;
  const direction = directionOf(oneBefore, last) || directionOf(first, second) || 1;
  for (const [i, key] of keys.entries()) {
    const previous = i === 0 ? last : keys[i - 1];
    if (key !== undefined && (previous === undefined || direction * compareLabels(previous, key) < 0))
      continue;
    const [wanted, where] = direction > 0 ? ["after", "rises"] : ["before", "falls"];
    const isFirst = i === 0;
    throw new ZarrflowError(
      "invalid-option",
      isFirst
        ? "the source does not continue where the target ends"
        : `the coordinate of the source is not sorted, but that of the target ${where}`,
      {
        path,
        expected: `${wanted} ${text(previous)}${isFirst ? ", the last value of the target" : ""}`,
        found: `${text(key)}${isFirst ? ", the first value of the source" : ""}`,
        hint: isFirst
          ? "Append each part once, in order. To append only the rest of a part, cut it with `zarrflow slice` first."
          : "Sort the source along the dimension first.",
      },
    );
  }
}

async function keyAt(coordinate: Coordinate, index: number): Promise<Key | undefined> {
  return index < 0 ? undefined : coordinate.keyAt(index);
}

function directionOf(a: Key | undefined, b: Key | undefined): number {
  return a === undefined || b === undefined ? 0 : -compareLabels(a, b);
}

/**
 * Asserts that an array that does not grow has the same items in source and target.
 *
 * @throws `differs` with the first item that does
 */
export async function assertEqual(
  { path, source, target }: ArrayPair,
  options: Omit<CompareOptions, "path">,
): Promise<void> {
  const hint = "Only arrays that have the dimension may differ: both parts must be on the same grid.";
  if (!isComparable(source, target)) {
    const [expected, found] = [target, source].map(
      ({ dataType, shape }) => `${dataType} (${shape.join(", ")})`,
    );
    const reason = "data type or shape differs between source and target";
    throw new ZarrflowError("differs", reason, { path, expected, found, hint } as const);
  }
  const { signal } = options;
  const [from, to] = [
    await withChunkSeparator(source, { signal }),
    await withChunkSeparator(target, { signal }),
  ];
  const difference = await compareValues(from, to, { ...options, path });
  if (difference === undefined) return;
  const { count, first, a, b } = difference;
  throw new ZarrflowError("differs", `${count} items differ between source and target`, {
    path,
    expected: `${b} at ${first.join(", ") || "its only item"}`,
    found: a,
    hint,
  });
}

/**
 * Asserts that items mean the same in source and target: data type, dimensions, missing value, packing, units and
 * calendar. Chunks, codecs and format may differ.
 *
 * @throws `differs` with what does, and both values.
 */
export function assertSameKind(pair: AppendedPair): void {
  const { path, source, target, axis } = pair;
  // a coordinate has no missing values
  const isOfAll = isGrowingCoordinate(pair, target.dimensionNames?.[0] ?? "");
  const from = new Map([...kindOf(source, axis)].map((trait) => [trait.what, trait]));
  for (const { what, is, means = is } of kindOf(target, axis)) {
    const other = from.get(what);
    if (isOfAll && what === MISSING) continue;
    if ((other?.means ?? other?.is) === means) continue;
    throw new ZarrflowError("differs", `${what} of source and target differ`, {
      path,
      expected: `${is ?? "none"}, as in the target`,
      found: `${other?.is ?? "none"} in the source`,
      hint: "Nothing was written. Source and target must have the same.",
    });
  }
}

const MISSING = "the missing values";

interface Trait {
  readonly what: string;
  /** The trait as stated. */
  readonly is: string | undefined;
  /** A text that is the same for all spellings of one meaning; by default the trait as stated. */
  readonly means?: string | undefined;
}

function* kindOf(array: ZarrArray, axis: number): Generator<Trait> {
  const { attributes, dataType, dimensionNames, shape, metadata, layout } = array;
  yield { what: "the numbers of dimensions", is: `${shape.length}` };
  yield { what: "the dimensions", is: dimensionNames?.map((name) => name ?? "(no name)").join(", ") };
  yield { what: "the data types", is: dataType };
  for (const [d, size] of shape.entries()) {
    if (d !== axis)
      yield { what: `the lengths of ${dimensionNames?.[d] ?? `dimension ${d}`}`, is: `${size}` };
  }
  const missing = missingValueOf(metadata, layout.zarrFormat);
  yield { what: MISSING, is: missing && itemJson(missing, metadata.dataType) };
  const packing = packingOf(metadata.dataType, attributes);
  yield { what: "scale_factor", is: packing?.scale?.toString() };
  yield { what: "add_offset", is: packing?.offset?.toString() };
  yield { what: "_Unsigned", is: packing?.reread && String(onlyItem(attributes._Unsigned)) };
  yield* timesOf(array);
}

/** Units, and the calendar of times. Their meaning is compared, not their wording, if it is known. */
function* timesOf({ metadata, attributes }: ZarrArray): Generator<Trait> {
  const [units, calendar] = [onlyItem(attributes.units), onlyItem(attributes.calendar)];
  const coding = timesKnown(metadata.dataType, attributes);
  const [zero, one] = [coding?.instantOf(0), coding?.instantOf(1)];
  const isKnown = coding !== undefined && metadata.dataType.kind !== "datetime";
  const is = typeof units === "string" ? units : undefined;
  yield { what: "the units", is, ...(isKnown && { means: `${zero} ${one}` }) };
  const named = typeof calendar === "string" ? calendar : undefined;
  yield { what: "the calendars", is: named, ...(isKnown && { means: coding.calendar.name }) };
}

function timesKnown(...coded: Parameters<typeof timeCodingOf>): TimeCoding | undefined {
  try {
    return timeCodingOf(...coded);
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}

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

/** A node and all nodes below it, by their path relative to it. */
export interface NodesByKind {
  readonly arrays: ReadonlyMap<string, ZarrArray>;
  readonly groups: ReadonlyMap<string, ZarrGroup>;
}

/** Walks over a node and all nodes below it. */
export async function walkByKind(root: ZarrNode, signal: AbortSignal | undefined): Promise<NodesByKind> {
  if (root.kind === "array") return { arrays: new Map([["", root]]), groups: new Map() };
  const arrays = new Map<string, ZarrArray>();
  const groups = new Map([["", root]]);
  for await (const node of walk(root, { signal })) {
    if (node.kind === "array") arrays.set(belowPath(root.path, node.path), node);
    else groups.set(belowPath(root.path, node.path), node);
  }
  return { arrays, groups };
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
  const axis = parseWholeNumber(dim) ?? -1;
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
      ? "Its arrays have no dimension names: use the number of the dimension, such as 0."
      : dimensionMeant(dim, named, "The target's");
  return new ZarrflowError("invalid-option", `no array of the target has the dimension \`${dim}\``, {
    hint,
  });
}

function lacks(side: string, path: string, why: string): ZarrflowError {
  return new ZarrflowError("differs", `the ${side} lacks \`${path}\`, ${why}`, {
    hint: "Append datasets with the same arrays, or append single arrays.",
  });
}
