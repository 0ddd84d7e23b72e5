import {
  type CyclicRange,
  type IndexRange,
  isCyclic,
  type SliceOption,
} from "../../../hierarchy/slice-option.ts";
import { FULL_TURN } from "../../../util/numbers.ts";
import type { Coordinate } from "./coordinate.ts";

/** The items that a slice takes of one dimension, with their labels if it has a coordinate. */
export interface TakenItems {
  readonly dimension: string;
  /** The requested labels, as written on the command line; absent for indices. */
  readonly labels?: string;
  /** Path of the coordinate array; absent without one. */
  readonly coordinate?: string;
  /** In a cyclic dimension, a stop beyond its length continues with the first item. */
  readonly indices: IndexRange;
  readonly count: number;
  /** Full label of the first item; absent without labels or items. */
  readonly first?: string;
  /** Full label of the last item. */
  readonly last?: string;
  /**
   * Amounts added to stored labels, without duplicates, for longitudes beyond the seam; absent if none is shifted.
   */
  readonly shifted?: readonly number[];
}

/** A slice whose labels are replaced by indices, and a description of the labels. */
export interface LookedUp {
  readonly option: SliceOption;
  /** The items of dimensions that were selected by labels. */
  readonly labels: readonly TakenItems[];
}

/** Describes the items that a range takes along a dimension. */
export async function takenItems(
  { dimension, labels }: Pick<TakenItems, "dimension" | "labels">,
  range: IndexRange | CyclicRange,
  { length, coordinate }: { readonly length: number; readonly coordinate: Coordinate | undefined },
): Promise<TakenItems> {
  const { start, step, count, turns } = isCyclic(range) ? range.cyclic : resolved(range, length);
  const textAt = async (result: number) => {
    const key = await coordinate?.keyAt((start + result * step) % length);
    if (key === undefined) return "";
    const by = turns.findLast(({ from }) => from <= result)?.turns ?? 0;
    return coordinate?.scale.text(by === 0 ? key : Number(key) + by * FULL_TURN) ?? "";
  };
  const shifted = [...new Set(turns.map((run) => run.turns * FULL_TURN))].filter((by) => by !== 0);
  const stop = count === 0 ? start : start + (count - 1) * step + 1;
  return {
    dimension,
    ...(labels !== undefined && { labels }),
    ...(coordinate && { coordinate: coordinate.array.path }),
    indices: isCyclic(range) ? ([start, stop, ...(step > 1 ? ([step] as const) : [])] as IndexRange) : range,
    count,
    ...(coordinate && count > 0 && { first: await textAt(0), last: await textAt(count - 1) }),
    ...(shifted.length > 0 && { shifted }),
  };
}

/** Resolves a range of indices. Indices out of bounds are clamped; other code rejects them. */
function resolved(range: IndexRange, length: number) {
  const fromEnd = (at: number) => Math.max(0, Math.min(length, at < 0 ? at + length : at));
  if (typeof range === "number") return { start: fromEnd(range), step: 1, count: 1, turns: [] };
  const [from, to, step = 1] = range;
  const start = fromEnd(from ?? 0);
  return { start, step, count: Math.max(0, Math.ceil((fromEnd(to ?? length) - start) / step)), turns: [] };
}
