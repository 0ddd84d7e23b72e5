import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { packingOf } from "../meta/conventions/cf/packing.ts";
import { FULL_TURN } from "../meta/conventions/geo/raster-change.ts";
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
