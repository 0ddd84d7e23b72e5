import type { IndexRange, SliceOption } from "../../../hierarchy/slice-option.ts";

/** Labels of one dimension, and the indices that they became. */
export interface FoundLabels {
  readonly dimension: string;
  /** The labels, as they are written on the command line. */
  readonly labels: string;
  /** Path of the array that they were looked up in. */
  readonly coordinate: string;
  readonly indices: IndexRange;
  /** The label of the first item, in full. */
  readonly first: string;
  /** The label of the last item. */
  readonly last: string;
}

/** A slice without labels, and what these were. */
export interface LookedUp {
  readonly option: SliceOption;
  readonly labels: readonly FoundLabels[];
}
