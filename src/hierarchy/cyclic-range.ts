import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { packingOf } from "../meta/conventions/cf/packing.ts";
import { FULL_TURN } from "../meta/conventions/geo/numbers.ts";
import type { DataType } from "../meta/data-type.ts";
import { describeDataType } from "../meta/describe.ts";
import type { Shift } from "../streams/selection.ts";
import { isObject } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";

/** A run of items that were found by labels along a cyclic dimension: it may go beyond the last item, on with the first. */
export interface CyclicRange {
  readonly cyclic: {
    readonly start: number;
    readonly step: number;
    readonly count: number;
    /** Items after which the first one comes again; 0 for a run that does not go so far. */
    readonly cycle: number;
    /** By how many turns the labels of each run of results differ from stored ones; the first run begins at 0. */
    readonly turns: readonly { readonly from: number; readonly turns: number }[];
    /** The least and the greatest label that are taken. */
    readonly extent: readonly [least: number, greatest: number];
    /** Names of the arrays that have the labels: the coordinate, and its bounds. */
    readonly names: readonly string[];
  };
}

export function isCyclic(range: unknown): range is CyclicRange {
  return isObject(range) && "cyclic" in range;
}

/**
 * What the selection of an array adds to its numbers, so that the labels along a cyclic dimension go up, or down, all along.
 * Undefined for an array that has no labels of the dimension, or where none differ from stored ones.
 *
 * @param name of the array
 * @throws `unsupported-operation` for integers that a full turn is no whole number of.
 */
export function shiftOf(
  { cyclic: { turns, names } }: CyclicRange,
  dimension: number,
  { dataType, attributes }: ArrayMetadata,
  name: string,
): Shift | undefined {
  if (!names.includes(name) || turns.every((run) => run.turns === 0)) return undefined;
  const { kind } = dataType;
  if (kind !== "int" && kind !== "uint" && kind !== "float") return undefined;
  const turn = FULL_TURN / (packingOf(dataType, attributes)?.scale ?? 1);
  const whole = Math.round(turn);
  const isWhole = Math.abs(turn - whole) < 1e-6 * Math.abs(turn);
  if (kind !== "float" && !isWhole) {
    throw new ZarrflowError(
      "unsupported-operation",
      "longitudes that are packed like this cannot be shifted",
      {
        path: name,
        expected: "a scale_factor of which 360 is a multiple",
        found: FULL_TURN / turn,
        hint: "Take a range that does not cross the seam of the coordinate.",
      },
    );
  }
  const add = isWhole ? whole : turn;
  return { dimension, runs: turns.map((run) => ({ from: run.from, add: run.turns * add })) };
}

/** Turns by which labels of the first item that is taken differ from stored ones, along each dimension; undefined where none do. */
export function turnsOf(
  cyclic: ReadonlyMap<number, CyclicRange> | undefined,
  rank: number,
): readonly number[] | undefined {
  const turns = Array.from({ length: rank }, (_, d) => cyclic?.get(d)?.cyclic.turns[0]?.turns ?? 0);
  return turns.some((n) => n !== 0) ? turns : undefined;
}

/**
 * Holds that an array can store the labels of a range. @throws `unsupported-operation` for integers that are too small for them
 */
export function assertHolds(
  { cyclic: { extent } }: CyclicRange,
  { dataType, attributes }: ArrayMetadata,
  path: string,
): void {
  if (storedHolds(dataType, attributes, extent)) return;
  const range = extent.map((label) => Number(label.toPrecision(12))).join(" to ");
  throw new ZarrflowError("unsupported-operation", `longitudes from ${range} do not fit its data type`, {
    path,
    expected: "labels that its integers hold, by their scale_factor and add_offset",
    found: describeDataType(dataType),
    hint: "Write the range in the convention in which longitudes are stored, such as -180..180 for 0..360, or slice an array whose coordinate has a wider data type.",
  });
}

/** Whether numbers that are stored as a data type, and packed as attributes say, can mean each of some. */
export function storedHolds(
  dataType: DataType,
  attributes: Readonly<Record<string, unknown>>,
  labels: readonly number[],
): boolean {
  if (dataType.kind !== "int" && dataType.kind !== "uint") return true;
  const { scale = 1, offset = 0, reread } = packingOf(dataType, attributes) ?? {};
  const bits = 8 * dataType.size;
  const isSigned = reread ? reread.signed : dataType.kind === "int";
  const [least, most] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  return labels.every((label) => {
    const stored = (label - offset) / scale;
    return stored > least - 0.5 && stored < most + 0.5;
  });
}
