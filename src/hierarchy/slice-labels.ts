import { isObject, type OptionNames } from "../util/check-options.ts";

/** A value of a coordinate: a number, a text, or a date, as ISO 8601 writes it in whole or in part, or a `Date` in UTC. */
export type Label = number | bigint | string | Date;

/**
 * What to take along one dimension by the values of its coordinate: one of them, `[from, to]`, or `[from, to, step]`. Both
 * ends are included, in any order; with `null` the range has no bound on that side of the values.
 */
export type LabelRange =
  | Label
  | readonly [Label | null, Label | null]
  | readonly [Label | null, Label | null, number];

/** Labels by dimension name. */
export type SelOption = Readonly<Record<string, LabelRange>>;

/** Options of what takes a slice by labels. */
export interface LabelOptions {
  /**
   * The part that is taken by labels, beside what is taken by indices: `{ time: "2019-03", latitude: [45, 50] }`. Labels are
   * looked up in the array of the dimension's name, in the same group or the nearest one above.
   */
  readonly sel?: SelOption | undefined;
  /** If no item has a single label that is asked for, takes the one whose label is nearest to it. */
  readonly nearest?: boolean | undefined;
}

export const LABEL_OPTIONS: OptionNames<LabelOptions> = { sel: true, nearest: true };

/** A range that is given by labels, as it stands among indices until it is looked up. */
export interface Labelled {
  readonly labels: LabelRange;
}

export function isLabelled(range: unknown): range is Labelled {
  return isObject(range) && "labels" in range;
}
