import type { ZarrArray, ZarrGroup, ZarrNode } from "../../../hierarchy/node.ts";
import {
  type CyclicRange,
  type IndexRange,
  isCyclic,
  isLabeled,
  isMaybeYears,
  type LabelRange,
  type Range,
  type SliceOption,
} from "../../../hierarchy/slice-option.ts";
import { dimensionMeant, dimensionNamed } from "../../../meta/dimension-names.ts";
import { isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import { jsonEqual } from "../../../util/json-value.ts";
import { folderOf } from "../../../util/node-path.ts";
import { leaderOf } from "../group-arrays.ts";
import type { Coordinate, CoordinateOptions } from "./coordinate.ts";
import { findCoordinate, type LabeledArray, openCoordinate } from "./find-coordinate.ts";
import { findLabels, labelsText } from "./find-labels.ts";
import { type LookedUp, type TakenItems, takenItems } from "./found-labels.ts";

export interface LookUpOptions extends CoordinateOptions {
  readonly nearest: boolean;
}

/**
 * Replaces the labels in a slice of one array by indices.
 *
 * @param names names of the array's dimensions
 * @throws as `findLabels`; `invalid-selection` for a dimension without name or coordinate array.
 */
export async function lookUpInArray(
  option: SliceOption,
  array: ZarrArray,
  names: readonly (string | null)[],
  options: LookUpOptions,
): Promise<LookedUp> {
  const dimensionOf = (key: string | number) => {
    const d = typeof key === "number" ? key : placeOf(key, names, array.path);
    return { d, name: names[d], length: array.shape[d] ?? 0 };
  };
  return withIndices(
    option,
    async (key, labels) => {
      const { d, name, length } = dimensionOf(key);
      if (typeof name !== "string")
        throw noCoordinate(`${d}`, array.path, "Dimensions without names have no labels.");
      const coordinate = await coordinateOf({ array }, { name, length }, options);
      return found(coordinate, { dimension: name, labels, nearest: options.nearest });
    },
    async (key, indices) => {
      const { name, length } = dimensionOf(key);
      if (typeof name !== "string") return undefined;
      return yearsOf(name, await anyCoordinateOf({ array }, { name, length, indices }, options));
    },
  );
}

/**
 * Describes the items that a slice takes along each dimension of an array that it names. @param names names of the
 * array's dimensions
 */
export function takenOfArray(
  lookedUp: LookedUp,
  array: ZarrArray,
  names: readonly (string | null)[],
  options: CoordinateOptions,
): Promise<readonly TakenItems[]> {
  const placed = async (key: string | number) => {
    const d = typeof key === "number" ? key : placeOf(key, names, array.path);
    const name = names[d] ?? undefined;
    return {
      name: name ?? `${d}`,
      length: array.shape[d] ?? 0,
      place: name === undefined ? undefined : { array },
    };
  };
  return takenOf(lookedUp, placed, options);
}

/** A group to slice. */
export interface SlicedGroup {
  readonly group: ZarrGroup;
  /** The group and all nodes below it. */
  readonly nodes: readonly ZarrNode[];
  /** Paths that are left out and were not opened. */
  readonly leftOut: readonly string[];
  /** The arrays to slice, with their dimension names. */
  readonly arrays: readonly { readonly array: ZarrArray; readonly names: readonly (string | null)[] }[];
}

/**
 * Replaces the labels in a slice of a group by indices. Arrays in groups below may have their own coordinate of a
 * dimension, which must give the same indices if it has the same length.
 *
 * @throws as `lookUpInArray`; `invalid-selection` if coordinates give different indices.
 */
export async function lookUpInGroup(
  option: SliceOption,
  { arrays, ...of }: SlicedGroup,
  options: LookUpOptions,
): Promise<LookedUp> {
  const within = withinGroup(of);
  const find = async (key: string | number, labels: LabelRange) => {
    const dimension = String(key);
    const having = arraysWith(dimension, arrays);
    const [first] = having;
    if (first === undefined) {
      const hint = dimensionMeant(
        dimension,
        arrays.map(({ array }) => array),
        "The group's",
      );
      const reason = `no array of the group has the dimension \`${dimension}\``;
      throw new ZarrflowError("invalid-selection", reason, { path: of.group.path, hint });
    }
    const wanted = { name: dimension, length: first.length };
    const question = { dimension, labels, nearest: options.nearest };
    const coordinate = await coordinateOf({ array: first.array, within }, wanted, options);
    const result = await found(coordinate, question);
    const seen = new Set([coordinate.array.path]);
    // arrays of one group share a coordinate
    const groups = new Set([folderOf(first.path)]);
    for (const { array, length } of having) {
      if (length !== first.length || groups.has(folderOf(array.path))) continue;
      groups.add(folderOf(array.path));
      const other = await coordinateOf({ array, within }, wanted, options);
      if (seen.has(other.array.path)) continue;
      seen.add(other.array.path);
      const { indices, taken } = await found(other, question);
      if (!jsonEqual(placesOf(indices), placesOf(result.indices)))
        throw differing(question, result.taken, taken);
    }
    return result;
  };
  return withIndices(option, find, async (key, indices) => {
    const [first] = arraysWith(String(key), arrays);
    if (first === undefined) return undefined;
    const wanted = { name: String(key), length: first.length };
    const asked = { ...wanted, indices };
    return yearsOf(wanted.name, await anyCoordinateOf({ array: first.array, within }, asked, options));
  });
}

/** Describes the items that a slice takes along each dimension of a group that it names. */
export function takenOfGroup(
  lookedUp: LookedUp,
  { arrays, ...of }: SlicedGroup,
  options: CoordinateOptions,
): Promise<readonly TakenItems[]> {
  const within = withinGroup(of);
  const placed = async (key: string | number) => {
    const name = String(key);
    const [first] = arraysWith(name, arrays);
    return first && { name, length: first.length, place: { array: first.array, within } };
  };
  return takenOf(lookedUp, placed, options);
}

function withinGroup({ group, nodes, leftOut }: Omit<SlicedGroup, "arrays">) {
  return { path: group.path, nodes: new Map(nodes.map((node) => [node.path, node])), leftOut };
}

/** The arrays with a dimension, and its length in each. The array whose items the ranges count comes first. */
function arraysWith(dimension: string, arrays: SlicedGroup["arrays"]) {
  const having = arrays.flatMap(({ array, names }) => {
    const length = array.shape[names.indexOf(dimension)];
    const metadata = { ...array.metadata, dimensionNames: names };
    return length === undefined ? [] : [{ array, length, path: array.path, metadata }];
  });
  const leader = leaderOf(dimension, having);
  return leader === undefined ? [] : [leader, ...having.filter((one) => one !== leader)];
}

/** The parts of indices that identify the items. */
function placesOf(indices: IndexRange | CyclicRange) {
  if (!isCyclic(indices)) return [indices].flat();
  const { start, step, count, cycle } = indices.cyclic;
  return [start, step, count, cycle];
}

/**
 * Replaces the labels in an option by indices, looking up all of them concurrently.
 *
 * @throws the error of the first label that failed
 */
async function withIndices(
  option: SliceOption,
  find: (key: string | number, labels: LabelRange) => Promise<Found>,
  yearsOf: (key: string | number, indices: IndexRange) => Promise<Years | undefined>,
): Promise<LookedUp> {
  const become = async (key: string | number, range: Range | null): Promise<Looked> => {
    if (isMaybeYears(range)) {
      assertNoYears(range.maybeYears, await yearsOf(key, range.maybeYears));
      return { indices: range.maybeYears };
    }
    return isLabeled(range) ? find(key, range.labels) : { indices: range };
  };
  const entries: readonly (readonly [string | number, Range | null])[] = Array.isArray(option)
    ? [...option.entries()]
    : Object.entries(option as Readonly<Record<string, Range>>);
  const settled = await Promise.allSettled(entries.map(([key, range]) => become(key, range)));
  const results = settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
  const ranges = results.map(({ indices }) => indices);
  return {
    option: Array.isArray(option)
      ? ranges
      : Object.fromEntries(entries.map(([key], i) => [key, ranges[i] as Range])),
    labels: results.flatMap(({ taken }) => taken ?? []),
  };
}

/** A range after the look-up: unchanged, or the indices of its labels. */
interface Looked {
  readonly indices: Range | null;
  readonly taken?: TakenItems;
}

/** The indices of labels, and the items that they take. */
interface Found {
  readonly indices: IndexRange | CyclicRange;
  readonly taken: TakenItems;
}

async function found(coordinate: Coordinate, question: Parameters<typeof findLabels>[1]): Promise<Found> {
  const { dimension, labels } = question;
  const indices = await findLabels(coordinate, question);
  const of = { length: coordinate.length, coordinate };
  return { indices, taken: await takenItems({ dimension, labels: labelsText(labels) }, indices, of) };
}

/** First and last year of a time coordinate. */
interface Years {
  readonly dimension: string;
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

async function yearsOf(dimension: string, coordinate: Coordinate | undefined): Promise<Years | undefined> {
  const { yearOf } = coordinate?.scale ?? {};
  if (coordinate === undefined || yearOf === undefined) return undefined;
  const ends = [await coordinate.keyAt(0), await coordinate.keyAt(coordinate.length - 1)];
  const years = ends.flatMap((key) => (key === undefined ? [] : yearOf(key)));
  if (years.length === 0) return undefined;
  return { dimension, path: coordinate.array.path, first: Math.min(...years), last: Math.max(...years) };
}

/** Asserts that indices are not years of the coordinate. @throws `invalid-selection` */
function assertNoYears(indices: IndexRange, years: Years | undefined): void {
  if (years === undefined) return;
  const { dimension, path, first, last } = years;
  const ends = [indices].flat().slice(0, 2);
  if (!ends.every((end) => end === null || (end >= first && end <= last + 1))) return;
  if (!ends.some((end) => end !== null && end <= last)) return;
  const [from, to] = ends.map((end) => (end === null ? "" : `${end}`.padStart(4, "0")));
  const written = [indices]
    .flat()
    .map((part) => part ?? "")
    .join(":");
  const year = `${from}..${to ?? from}`;
  throw new ZarrflowError(
    "invalid-selection",
    `${written} along dimension ${dimension} could be years or indices`,
    {
      path,
      hint: `Write ${year} for ${from === to || to === undefined ? "the year" : "years, both included"}, or @${written} for ${typeof indices === "number" ? "the index" : "indices"}.`,
    },
  );
}

/**
 * Opens the coordinate of a dimension, if it has one with readable labels.
 *
 * @throws the reason why labels cannot be read, if `indices` are beyond the dimension and so may be labels
 */
async function anyCoordinateOf(
  place: LabeledArray,
  wanted: { readonly name: string; readonly length: number; readonly indices?: IndexRange },
  options: CoordinateOptions,
): Promise<Coordinate | undefined> {
  try {
    const array = await findCoordinate(place, wanted.name, options.signal);
    return array?.shape[0] === wanted.length ? await openCoordinate(array, options) : undefined;
  } catch (error) {
    const [start = 0] = [wanted.indices ?? 0].flat();
    if (isZarrflowError(error, "unsupported-operation") && (start ?? 0) >= wanted.length) throw error;
    if (isZarrflowError(error)) return undefined;
    throw error;
  }
}

/** Describes the items of ranges. Those selected by labels have a description already. */
async function takenOf(
  { option, labels }: LookedUp,
  placed: (key: string | number) => Promise<Placed | undefined>,
  options: CoordinateOptions,
): Promise<readonly TakenItems[]> {
  const all: TakenItems[] = [];
  for (const [key, range] of Object.entries(option)) {
    if (range === null || isLabeled(range) || isMaybeYears(range)) continue;
    const dimension = await placed(Array.isArray(option) ? Number(key) : key);
    if (dimension === undefined) continue;
    const { name, length, place } = dimension;
    const known = labels.find((one) => one.dimension === name);
    all.push(known ?? (await describedBy({ name, length, place, range }, options)));
  }
  return all;
}

interface Placed {
  readonly name: string;
  readonly length: number;
  readonly place: LabeledArray | undefined;
}

/** Describes the items of indices, with labels if these can be read. */
async function describedBy(
  { name, length, place, range }: Placed & { readonly range: IndexRange | CyclicRange },
  options: CoordinateOptions,
): Promise<TakenItems> {
  const coordinate = place && (await anyCoordinateOf(place, { name, length }, options));
  try {
    return await takenItems({ dimension: name }, range, { length, coordinate });
  } catch (error) {
    if (coordinate === undefined || !isZarrflowError(error)) throw error;
    return takenItems({ dimension: name }, range, { length, coordinate: undefined });
  }
}

async function coordinateOf(
  place: LabeledArray,
  { name, length }: { readonly name: string; readonly length: number },
  options: CoordinateOptions,
): Promise<Coordinate> {
  const array = await findCoordinate(place, name, options.signal);
  if (array === undefined) {
    throw noCoordinate(
      name,
      place.array.path,
      `No 1-D array \`${name}\` exists next to the array or in a group above it. Use indices.`,
    );
  }
  if (array.shape[0] === length) return openCoordinate(array, options);
  throw new ZarrflowError(
    "invalid-selection",
    `the coordinate does not have the length of the dimension ${name}`,
    {
      path: array.path,
      expected: length,
      found: array.shape[0] ?? 0,
      hint: "Use indices.",
    },
  );
}

function placeOf(name: string, names: readonly (string | null)[], path: string): number {
  try {
    return dimensionNamed(name, names, path);
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    throw new ZarrflowError("invalid-selection", error.reason, error.details);
  }
}

function noCoordinate(dimension: string, path: string, hint: string): ZarrflowError {
  return new ZarrflowError("invalid-selection", `dimension ${dimension} has no labels`, { path, hint });
}

function differing(
  { dimension }: { readonly dimension: string },
  a: TakenItems,
  b: TakenItems,
): ZarrflowError {
  const words = ({ coordinate, indices }: TakenItems) => `${[indices].flat().join(":")} in ${coordinate}`;
  return new ZarrflowError(
    "invalid-selection",
    `${a.labels} along dimension ${dimension} is ${words(a)}, and ${words(b)}`,
    { path: b.coordinate ?? "", hint: "Slice one group at a time." },
  );
}
