import { withEqualsSigns } from "../meta/dimension-names.ts";
import { ZarrflowError } from "../util/errors.ts";
import { parseWholeNumber } from "../util/numbers.ts";
import {
  backwards,
  type IndexRange,
  invalidSelection,
  type Labeled,
  type LabelOptions,
  type Range,
  type SelOption,
  type SliceOption,
} from "./slice-option.ts";

/**
 * Merges ranges of indices and of labels into one option.
 *
 * @throws `invalid-option` if labels are combined with unnamed ranges, or if a dimension has both
 */
export function withLabels(option: SliceOption, sel: SelOption | undefined): SliceOption {
  const asked = Object.entries(sel ?? {});
  if (asked.length === 0) return option;
  if (Array.isArray(option) && option.length > 0) {
    throw new ZarrflowError("invalid-option", "labels cannot be combined with unnamed ranges", {
      hint: "Name the dimensions of all ranges: { latitude: [10, 20] }.",
    });
  }
  const both = asked.find(([name]) => Object.hasOwn(option, name));
  if (both) {
    throw new ZarrflowError("invalid-option", `dimension ${both[0]} is selected by both indices and labels`, {
      hint: "Use one of the two.",
    });
  }
  return { ...option, ...Object.fromEntries(asked.map(([name, labels]) => [name, { labels }])) };
}

/**
 * Parses `time=0:24,lat=10:20:2,lon=5` or `0:24,10:20:2,5`, also with labels: `time=2019-03,lat=45..50`. A part with
 * `@` is always an index or a range of indices: `time=@2016` is item 2016, whatever the labels are.
 *
 * @throws `invalid-selection` with the valid syntax; for an empty range.
 */
export function parseSlice(text: string): SliceOption {
  const parts = text.split(",").map((part) => part.trim());
  if (!parts.some((part) => part.includes("="))) return parts.map((part) => range(part, text));
  const ranges = new Map<string, Range>();
  for (const part of parts) {
    const at = part.lastIndexOf("=");
    if (at < 1)
      throw invalidSelection(`\`${part}\` in \`${text}\` has no dimension name`, {
        meant: withEqualsSigns(text),
      });
    const name = part.slice(0, at).trim();
    if (ranges.has(name)) throw invalidSelection(`\`${name}\` is given twice in \`${text}\``);
    ranges.set(name, range(part.slice(at + 1).trim(), text));
  }
  return Object.fromEntries(ranges);
}

export function range(part: string, text: string): Range {
  if (part.startsWith("@")) return indices(part.slice(1).trim(), text);
  const labeled = parseLabels(part);
  if (labeled) return labeled;
  const found = indices(part, text);
  const ends = part.split(":", 2).map((end) => end.trim());
  const mayBeYears = ends.every((end) => end === "" || YEAR.test(end));
  return mayBeYears && ends.some((end) => end !== "") ? { maybeYears: found } : found;
}

/** Whole numbers that may be years. Model years can have three digits. */
const YEAR = /^(?:\d{4}|[1-9]\d\d)$/;

export function indices(part: string, text: string): IndexRange {
  const pieces = part.split(":").map((piece) => piece.trim());
  const numbers = pieces.map((piece) => (piece === "" ? null : parseWholeNumber(piece)));
  if (numbers.includes(undefined)) throw notIndices(part, text);
  const [start = null, stop = null, step = null] = numbers;
  if (pieces.length === 1 && start !== null) return start;
  if (pieces.length === 1 || pieces.length > 3)
    throw invalidSelection(`\`${part}\` in \`${text}\` is not a range`);
  if (step !== null && step < 0) throw backwards(`\`${part}\` in \`${text}\``);
  if (start !== null && stop !== null && start < 0 === stop < 0 && start >= stop) {
    throw new ZarrflowError("invalid-selection", `\`${part}\` in \`${text}\` selects no items`, {
      hint:
        start === stop
          ? `The range is empty, since the stop is exclusive. Write ${start} for one item.`
          : "Put the smaller index first; the stop is exclusive.",
    });
  }
  return step === null ? [start, stop] : [start, stop, step];
}

function notIndices(part: string, text: string): ZarrflowError {
  const meant = withEqualsSigns(text);
  if (meant !== undefined)
    return invalidSelection(`\`${part}\` in \`${text}\` is not a range of indices`, { meant });
  return new ZarrflowError("invalid-selection", `\`${part}\` in \`${text}\` is not a range of indices`, {
    hint: "Write indices as 0:24, and labels as 45.5..50 or 2019-03-01:2019-03-08.",
  });
}

const DATE = String.raw`[+-]?\d{4,6}-\d\d(?:-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?`;
const DATE_RANGE = new RegExp(`^(?:(${DATE})?:(${DATE})?(?::(\\d+))?)$`);
const SINGLE_DATE = new RegExp(`^${DATE}$`);

/**
 * Parses a single range as labels: `45..50`, `2019-03-01:2019-03-08`, `2019-03`, `45.5`, `Oslo`; undefined if there are
 * none.
 */
export function parseLabels(text: string): Labeled | undefined {
  if (/^(?:[+-]?\d+)?$/.test(text)) return undefined;
  if (SINGLE_DATE.test(text)) return { labels: text };
  const ends = text.split("..").map((end) => end.trim());
  if (ends.length === 2) return { labels: [orOpen(ends[0]), orOpen(ends[1])] };
  if (ends.length === 3) {
    const step = parseWholeNumber(ends[2] ?? "");
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

/** Combines ranges, or their text, with labels. @throws as `parseSlice` and `withLabels` */
export function askedSlice(option: SliceOption | string, { sel }: LabelOptions): SliceOption {
  return withLabels(typeof option === "string" ? parseSlice(option) : option, sel);
}
