import { isObject, type OptionNames } from "../util/check-options.ts";

/**
 * A value of a coordinate: a number, a text, or a date, as ISO 8601 text (complete or partial) or as a `Date` in UTC.
 */
export type Label = number | bigint | string | Date;

/**
 * Selection along one dimension by values of its coordinate: a single value, `[from, to]` or `[from, to, step]`. Both
 * ends are included, in either order; `null` leaves that side open.
 */
export type LabelRange =
  | Label
  | readonly [Label | null, Label | null]
  | readonly [Label | null, Label | null, number];

/** Labels by dimension name. */
export type SelOption = Readonly<Record<string, LabelRange>>;

/** Options for selecting by labels. */
export interface LabelOptions {
  /**
   * Selection by labels, in addition to the one by indices: `{ time: "2019-03", latitude: [45, 50] }`. Labels are
   * looked up in the array with the name of the dimension, in the same group or the nearest one above.
   */
  readonly sel?: SelOption | undefined;
  /** Selects the nearest item if no item has exactly the requested label. Applies to single labels. */
  readonly nearest?: boolean | undefined;
}

export const LABEL_OPTIONS: OptionNames<LabelOptions> = { sel: true, nearest: true };

/** A range of labels, kept among index ranges until it is looked up. */
export interface Labelled {
  readonly labels: LabelRange;
}

export function isLabelled(range: unknown): range is Labelled {
  return isObject(range) && "labels" in range;
}
