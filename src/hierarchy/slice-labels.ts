import { isObject, type OptionNames } from "../util/check-options.ts";
import { wholeNumber } from "../util/decimal.ts";

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
  readonly sel?: SelOption;
  /** If no item has a single label that is asked for, takes the one whose label is nearest to it. */
  readonly nearest?: boolean;
}

export const LABEL_OPTIONS: OptionNames<LabelOptions> = { sel: true, nearest: true };

/** A range that is given by labels, as it stands among indices until it is looked up. */
export interface Labelled {
  readonly labels: LabelRange;
}

export function isLabelled(range: unknown): range is Labelled {
  return isObject(range) && "labels" in range;
}

const DATE = String.raw`[+-]?\d{4,6}-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?`;
const DATE_RANGE = new RegExp(`^(?:(${DATE})?:(${DATE})?(?::(\\d+))?)$`);
const SINGLE_DATE = new RegExp(`^${DATE}$`);

/**
 * Reads one range of a text as labels: `45..50`, `2019-03-01:2019-03-08`, `2019-03`, `45.5`, `Oslo`; undefined where it has
 * none.
 */
export function parseLabels(text: string): Labelled | undefined {
  if (/^(?:[+-]?\d+)?$/.test(text)) return undefined;
  if (SINGLE_DATE.test(text)) return { labels: text };
  const ends = text.split("..").map((end) => end.trim());
  if (ends.length === 2) return { labels: [orOpen(ends[0]), orOpen(ends[1])] };
  if (ends.length === 3) {
    const step = wholeNumber(ends[2] ?? "");
    return step === undefined ? undefined : { labels: [orOpen(ends[0]), orOpen(ends[1]), step] };
  }
  if (!text.includes(":")) return { labels: text };
  const [, from, to, step] = DATE_RANGE.exec(text) ?? [];
  if (from === undefined && to === undefined) return undefined;
  const range = [from ?? null, to ?? null] as const;
  return { labels: step === undefined ? range : [...range, Number(step)] };
}

function orOpen(end: string | undefined): string | null {
  return end === undefined || end === "" ? null : end;
}
