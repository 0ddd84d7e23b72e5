import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { numberIn, packingOf } from "../meta/conventions/cf/packing.ts";
import type { Shift } from "../streams/selection.ts";
import { isObject } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";

/** Degrees of longitude, after which the first meridian comes again. */
export const FULL_TURN = 360;

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

/** Metadata of an array whose numbers are shifted: the range that is valid, section 2.5.1 of CF, holds them too. */
export function withShift(metadata: ArrayMetadata, shift: Shift | undefined): ArrayMetadata {
  if (shift === undefined) return metadata;
  const added = shift.runs.map(({ add }) => add);
  const [least, most] = [Math.min(...added), Math.max(...added)];
  const widened: Record<string, number | number[]> = {};
  const { valid_min, valid_max, valid_range } = metadata.attributes;
  const [min, max] = [numberIn(valid_min), numberIn(valid_max)];
  if (min !== undefined) widened.valid_min = min + least;
  if (max !== undefined) widened.valid_max = max + most;
  const [from, to] = Array.isArray(valid_range) ? valid_range.map(numberIn) : [];
  if (from !== undefined && to !== undefined) widened.valid_range = [from + least, to + most];
  return { ...metadata, attributes: { ...metadata.attributes, ...widened } };
}
