import { type CyclicRange, isCyclic } from "../../../hierarchy/cyclic-range.ts";
import type { IndexRange, SliceOption } from "../../../hierarchy/slice-option.ts";
import { FULL_TURN } from "../../../meta/conventions/geo/numbers.ts";
import type { Coordinate } from "./coordinate.ts";

/** What a slice takes of one dimension: its items, and their labels where there is a coordinate. */
export interface TakenItems {
  readonly dimension: string;
  /** The labels that were asked for, as they are written on the command line; absent where indices were. */
  readonly labels?: string;
  /** Path of the array that has the labels; absent without one. */
  readonly coordinate?: string;
  /** Of a cyclic dimension, a stop beyond its length goes on with the first item. */
  readonly indices: IndexRange;
  readonly count: number;
  /** The label of the first item, in full; absent without labels, and where no item is taken. */
  readonly first?: string;
  /** The label of the last item. */
  readonly last?: string;
  /** What is added to stored labels, each amount once, where any are shifted: labels beyond the seam of longitudes. */
  readonly shifted?: readonly number[];
}

/** A slice without labels, and what these were. */
export interface LookedUp {
  readonly option: SliceOption;
  /** What is taken along dimensions that labels were given for. */
  readonly labels: readonly TakenItems[];
}

/** What a range takes of a dimension of some length. */
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

/** A range of indices of a dimension, by its first item; what is beyond the dimension is left for others to refuse. */
function resolved(range: IndexRange, length: number) {
  const fromEnd = (at: number) => Math.max(0, Math.min(length, at < 0 ? at + length : at));
  if (typeof range === "number") return { start: fromEnd(range), step: 1, count: 1, turns: [] };
  const [from, to, step = 1] = range;
  const start = fromEnd(from ?? 0);
  return { start, step, count: Math.max(0, Math.ceil((fromEnd(to ?? length) - start) / step)), turns: [] };
}
