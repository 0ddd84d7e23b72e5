import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { packingOf } from "../meta/conventions/cf/values.ts";
import { FULL_TURN } from "../meta/conventions/geo/raster-change.ts";
import type { DataType } from "../meta/data-type.ts";
import { describeDataType } from "../meta/describe.ts";
import type { Shift } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { isObject } from "../util/options.ts";

/** Items found by labels along a cyclic dimension. The range may continue beyond the last item with the first. */
export interface CyclicRange {
  readonly cyclic: {
    readonly start: number;
    readonly step: number;
    readonly count: number;
    /** Number of items of a full cycle; 0 if the range does not reach beyond the last item. */
    readonly cycle: number;
    /**
     * Differences between the labels of results and stored labels, in full turns. Each applies from an item on; the
     * first begins at 0.
     */
    readonly turns: readonly { readonly from: number; readonly turns: number }[];
    /** The smallest and the largest selected label. */
    readonly extent: readonly [least: number, greatest: number];
    /** Names of the arrays that contain the labels: the coordinate and its bounds. */
    readonly names: readonly string[];
  };
}

export function isCyclic(range: unknown): range is CyclicRange {
  return isObject(range) && "cyclic" in range;
}

/**
 * Offsets added to the numbers of an array, so that its labels increase, or decrease, throughout the selection.
 * Undefined if the array has no labels of the dimension, or if all labels are as stored.
 *
 * @param name of the array
 * @throws `unsupported-operation` for packed integers in which a full turn is not a whole number.
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

/**
 * Full turns between the label of the first selected item and the stored label, for each dimension; undefined if all
 * are 0.
 */
export function turnsOf(
  cyclic: ReadonlyMap<number, CyclicRange> | undefined,
  rank: number,
): readonly number[] | undefined {
  const turns = Array.from({ length: rank }, (_, d) => cyclic?.get(d)?.cyclic.turns[0]?.turns ?? 0);
  return turns.some((n) => n !== 0) ? turns : undefined;
}

/**
 * Checks that an array can store the labels of a range.
 *
 * @throws `unsupported-operation` if its integers are too small
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

/** True if a data type, packed as the attributes say, can represent each of the labels. */
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
