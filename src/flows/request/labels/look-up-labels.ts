import type { ZarrArray, ZarrGroup, ZarrNode } from "../../../hierarchy/node.ts";
import { isLabelled, type LabelRange } from "../../../hierarchy/slice-labels.ts";
import type { IndexRange, Range, SliceOption } from "../../../hierarchy/slice-option.ts";
import { dimensionNamed } from "../../../meta/dimension-names.ts";
import { isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import { leaderOf } from "../dimension-lengths.ts";
import type { Coordinate, CoordinateOptions } from "./coordinate.ts";
import { findCoordinate, type LabelledArray, openCoordinate } from "./find-coordinate.ts";
import { findLabels, wordsOf } from "./find-labels.ts";
import type { FoundLabels, LookedUp } from "./found-labels.ts";

export interface LookUpOptions extends CoordinateOptions {
  readonly nearest: boolean;
}

/**
 * What labels of a slice of one array are as indices.
 *
 * @param names of its dimensions
 * @throws as `findLabels`; `invalid-selection` for a dimension without name, or without a coordinate array.
 */
export async function lookUpInArray(
  option: SliceOption,
  array: ZarrArray,
  names: readonly (string | null)[],
  options: LookUpOptions,
): Promise<LookedUp> {
  return withIndices(option, async (key, labels) => {
    const d = typeof key === "number" ? key : placeOf(key, names, array.path);
    const name = names[d];
    if (typeof name !== "string")
      throw noCoordinate(`${d}`, array.path, "Dimensions without names have no labels.");
    const length = array.shape[d] ?? 0;
    const coordinate = await coordinateOf({ array }, { name, length }, options);
    return found(coordinate, { dimension: name, labels, nearest: options.nearest });
  });
}

/** A group that is sliced. */
export interface SlicedGroup {
  readonly group: ZarrGroup;
  /** The group and all nodes below it. */
  readonly nodes: readonly ZarrNode[];
  /** The arrays that are sliced, and the names of their dimensions. */
  readonly arrays: readonly { readonly array: ZarrArray; readonly names: readonly (string | null)[] }[];
}

/**
 * What labels of a slice of a group are as indices. Arrays that have the dimension may have coordinates of their own, in
 * groups below, which must give the same indices; those of another length say nothing.
 *
 * @throws as `lookUpInArray`; `invalid-selection` where coordinates give different indices.
 */
export async function lookUpInGroup(
  option: SliceOption,
  { group, nodes, arrays }: SlicedGroup,
  options: LookUpOptions,
): Promise<LookedUp> {
  const byPath = new Map(nodes.map((node) => [node.path, node]));
  const within = { path: group.path, nodes: byPath };
  return withIndices(option, async (key, labels) => {
    const dimension = String(key);
    const having = arrays.flatMap(({ array, names }) => {
      const length = array.shape[names.indexOf(dimension)];
      const metadata = { ...array.metadata, dimensionNames: names };
      return length === undefined ? [] : [{ array, length, path: array.path, metadata }];
    });
    const first = leaderOf(dimension, having);
    if (first === undefined) {
      throw noCoordinate(dimension, group.path, "No array of the group has a dimension of that name.");
    }
    const wanted = { name: dimension, length: first.length };
    const question = { dimension, labels, nearest: options.nearest };
    const coordinate = await coordinateOf({ array: first.array, within }, wanted, options);
    const result = await found(coordinate, question);
    const seen = new Set([coordinate.array.path]);
    for (const { array, length } of having) {
      if (length !== first.length) continue;
      const other = await coordinateOf({ array, within }, wanted, options);
      if (seen.has(other.array.path)) continue;
      seen.add(other.array.path);
      const { indices } = await found(other, question);
      if (`${indices}` !== `${result.indices}`)
        throw differing(question, result, { ...result, indices, coordinate: other.array.path });
    }
    return result;
  });
}

/** An option whose labels are replaced by indices, and what these were. */
async function withIndices(
  option: SliceOption,
  find: (key: string | number, labels: LabelRange) => Promise<FoundLabels>,
): Promise<LookedUp> {
  const labels: FoundLabels[] = [];
  const indicesOf = async (key: string | number, range: Range | null) => {
    if (!isLabelled(range)) return range;
    const one = await find(key, range.labels);
    labels.push(one);
    return one.indices;
  };
  if (Array.isArray(option)) {
    const ranges: (Range | null)[] = [];
    for (const [d, range] of option.entries()) ranges.push(await indicesOf(d, range));
    return { option: ranges, labels };
  }
  const ranges = new Map<string, Range>();
  for (const [name, range] of Object.entries(option as Readonly<Record<string, Range>>)) {
    ranges.set(name, (await indicesOf(name, range)) as Range);
  }
  return { option: Object.fromEntries(ranges), labels };
}

async function found(
  coordinate: Coordinate,
  question: Parameters<typeof findLabels>[1],
): Promise<FoundLabels> {
  const indices = await findLabels(coordinate, question);
  const [first, last] = endsOf(indices);
  const textAt = async (index: number) => {
    const key = await coordinate.keyAt(index);
    return key === undefined ? "" : coordinate.scale.text(key);
  };
  return {
    dimension: question.dimension,
    labels: wordsOf(question.labels),
    coordinate: coordinate.array.path,
    indices,
    first: await textAt(first),
    last: await textAt(last),
  };
}

/** The first and the last item of a range that was found. */
function endsOf(indices: IndexRange): readonly [number, number] {
  if (typeof indices === "number") return [indices, indices];
  const [start, stop, step = 1] = indices;
  const first = start ?? 0;
  return [first, first + Math.floor(((stop ?? 1) - 1 - first) / step) * step];
}

async function coordinateOf(
  place: LabelledArray,
  { name, length }: { readonly name: string; readonly length: number },
  options: CoordinateOptions,
): Promise<Coordinate> {
  const array = await findCoordinate(place, name, options.signal);
  if (array === undefined) {
    throw noCoordinate(
      name,
      place.array.path,
      `There is no 1-d array \`${name}\` beside the array or above it; give indices.`,
    );
  }
  if (array.shape[0] === length) return openCoordinate(array, options);
  throw new ZarrflowError(
    "invalid-selection",
    `the coordinate has another length than the dimension ${name}`,
    {
      path: array.path,
      expected: length,
      found: array.shape[0] ?? 0,
      hint: "Give indices.",
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
  a: FoundLabels,
  b: FoundLabels,
): ZarrflowError {
  const words = ({ coordinate, indices }: FoundLabels) => `${[indices].flat().join(":")} in ${coordinate}`;
  return new ZarrflowError(
    "invalid-selection",
    `${a.labels} along dimension ${dimension} is ${words(a)}, and ${words(b)}`,
    { path: b.coordinate, hint: "Slice one group at a time." },
  );
}
