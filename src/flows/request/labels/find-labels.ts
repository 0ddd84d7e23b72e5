import type { CyclicRange, IndexRange, Label, LabelRange } from "../../../hierarchy/slice-option.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { nearestName } from "../../../util/names.ts";
import { FULL_TURN, modulo } from "../../../util/numbers.ts";
import { type Coordinate, compareLabels, type Interval, type Key } from "./coordinate.ts";
import { type Circle, circleOf, itemNear, itemsBetween } from "./find-cyclic.ts";

/** A request for labels, as error messages describe it. */
export interface LabelQuestion {
  readonly dimension: string;
  readonly labels: LabelRange;
  readonly nearest: boolean;
}

/** Items from `start` up to, but excluding, `stop`. */
interface Span {
  readonly start: number;
  readonly stop: number;
}

/**
 * Finds the indices that labels refer to. Sorted values, ascending or descending, are searched by bisection, which
 * reads few chunks; other values are read whole. A label of one item gives an index. A label of several adjacent
 * items, or a date coarser than the coordinate, gives a range. If longitudes go all around the globe, labels may
 * differ from stored values by full turns, and ranges always go east.
 *
 * @throws `invalid-selection` for labels of the wrong type, without an item, outside the coordinate, or of items
 * that
 *   are not adjacent.
 */
export async function findLabels(
  coordinate: Coordinate,
  question: LabelQuestion,
): Promise<IndexRange | CyclicRange> {
  const { labels } = question;
  if (coordinate.length === 0) throw failure(coordinate, question, "has no items", "The dimension is empty.");
  const isRange = Array.isArray(labels);
  if (isRange && labels.length !== 2 && labels.length !== 3) {
    throw failure(coordinate, question, "needs a label, [from, to] or [from, to, step]", "Use one of these.");
  }
  const [from, to, step] = isRange
    ? (labels as Exclude<LabelRange, Label>)
    : [labels as Label, labels as Label];
  const low = from === null ? undefined : intervalOf(coordinate, question, from);
  const high = to === null ? undefined : intervalOf(coordinate, question, to);
  if (isRange) {
    if (step !== undefined && !(Number.isSafeInteger(step) && step >= 1))
      throw failure(coordinate, question, `has no step ${step}`, "A step is a whole number, 1 or more.");
    const around =
      low &&
      high &&
      (await rangeAround(coordinate, question, { west: low.low, east: high.low, by: step ?? 1 }));
    if (around) return around;
    const { start, stop } = await spanOf(coordinate, question, low, high);
    return step === undefined ? [start, stop] : [start, stop, step];
  }
  if (low === undefined) throw wrongKind(coordinate, question, from);
  return findOne(coordinate, question, low);
}

/**
 * Finds a range of longitudes that are not all within the stored ones; undefined for other ranges.
 *
 * @throws `invalid-selection` if no item is in the range
 */
async function rangeAround(
  coordinate: Coordinate,
  question: LabelQuestion,
  { west, east, by }: { readonly west: Key; readonly east: Key; readonly by: number },
): Promise<CyclicRange | undefined> {
  const circle = await circleOf(coordinate);
  const isStored = west <= east && circle?.isStored(Number(west)) && circle.isStored(Number(east));
  if (circle === undefined || isStored) return undefined;
  const ends = { west: Number(west), east: Number(east) };
  const found = itemsBetween(circle, { ...ends, by }, coordinate.array);
  if (found === undefined) throw noneAround(coordinate, question, circle, ends);
  return found;
}

function intervalOf(coordinate: Coordinate, question: LabelQuestion, label: unknown): Interval {
  const isPoint = question.nearest && !Array.isArray(question.labels);
  const interval = coordinate.scale.intervalOf(label as Label, isPoint);
  if (interval === undefined) throw wrongKind(coordinate, question, label);
  return interval;
}

/**
 * Finds the items of a range from its smaller to its larger end, which may be outside the coordinate. If values
 * descend, the ends may also be given in item order.
 */
async function spanOf(
  coordinate: Coordinate,
  question: LabelQuestion,
  from: Interval | undefined,
  to: Interval | undefined,
): Promise<Span> {
  const isTurned = from !== undefined && to !== undefined && compareLabels(from.low, to.high) > 0;
  const [lower, upper] = isTurned ? [to, from] : [from, to];
  const found = await bisect(coordinate, lower?.low, upper?.high);
  if (found === undefined) return spanOfUnsorted(coordinate, question, from, to);
  if (isTurned && (await goesUp(coordinate))) throw await turned(coordinate, question);
  if (found.start < found.stop) return found;
  throw await notFound(coordinate, question, { low: lower?.low, high: upper?.high }, found.start);
}

/** Error for a range, or a single longitude, without items. Names the nearest items on both sides. */
function noneAround(
  coordinate: Coordinate,
  question: LabelQuestion,
  { longitudes, items }: Circle,
  { west, east }: { readonly west: number; readonly east: number },
): ZarrflowError {
  const { text } = coordinate.scale;
  const ahead = (degrees: number) => modulo(degrees, FULL_TURN);
  const nearest = (away: (longitude: number) => number) =>
    asTyped(text(longitudes.slice(0, items).reduce((best, one) => (away(one) < away(best) ? one : best))));
  const before = nearest((longitude) => ahead(west - longitude));
  const after = nearest((longitude) => ahead(longitude - east));
  const isMeridian = west > east && ahead(west - east) === 0;
  const whole = `${text(east)}..${text(west)}`;
  const other = Array.isArray(question.labels)
    ? ""
    : ", or the nearest one with --nearest (in code nearest: true)";
  const reason = `has no item ${labelsText(question.labels)}`;
  const hint = isMeridian
    ? `Use ${before} or ${after}${other}. ${text(west)} and ${text(east)} are the same meridian; ${whole} is the whole globe.`
    : `Use ${before} or ${after}${other}.`;
  return failure(coordinate, question, reason, hint);
}

async function goesUp(coordinate: Coordinate): Promise<boolean> {
  const [first, last] = [await coordinate.keyAt(0), await coordinate.keyAt(coordinate.length - 1)];
  return first !== undefined && last !== undefined && compareLabels(first, last) < 0;
}

async function turned(coordinate: Coordinate, question: LabelQuestion): Promise<ZarrflowError> {
  const [from, to, ...step] = question.labels as Exclude<LabelRange, Label>;
  const reason = `increases, so nothing lies from ${wordOf(from ?? "")} to ${wordOf(to ?? "")}`;
  const { scale } = coordinate;
  const mayBeLongitude = scale.isLongitude || /^lon/i.test(question.dimension);
  const [west, east] = [Number(from), Number(to)];
  if (mayBeLongitude && west >= 180 && west <= FULL_TURN && east < 180) {
    const ends = [await coordinate.keyAt(0), await coordinate.keyAt(coordinate.length - 1)];
    const range = ends.map((key) => (key === undefined ? "" : scale.text(key))).join(" to ");
    const why = scale.isLongitude
      ? "does not go all around the globe"
      : "is not recognized as longitudes, because it has no units `degrees_east`";
    const meant = labelsText([west - FULL_TURN, east, ...step] as LabelRange);
    const hint = `It ${why}: it goes from ${range}. ${meant} may be meant.`;
    return failure(coordinate, question, reason, hint);
  }
  return failure(coordinate, question, reason, `Write ${labelsText([to, from, ...step] as LabelRange)}.`);
}

async function findOne(
  coordinate: Coordinate,
  question: LabelQuestion,
  asked: Interval,
): Promise<IndexRange> {
  const found = await bisect(coordinate, asked.low, asked.high);
  if (found && found.start < found.stop) {
    const { start, stop } = found;
    return stop - start > 1 || asked.isSpan(coordinate.known()) ? [start, stop] : start;
  }
  const circle = await circleOf(coordinate);
  const around = circle && itemNear(circle, Number(asked.low), !question.nearest);
  if (around !== undefined) return around;
  const at = Number(asked.low);
  if (circle && found && !circle.isStored(at))
    throw noneAround(coordinate, question, circle, { west: at, east: at });
  if (found === undefined) return findUnsorted(coordinate, question, asked);
  const { start } = found;
  const near = question.nearest ? await nearestOf(coordinate, asked.low, start) : undefined;
  if (near !== undefined) return near;
  throw await notFound(coordinate, question, asked, start);
}

/** Finds the items of sorted values from `low` to `high`; undefined if the values that were read are not sorted. */
async function bisect(
  coordinate: Coordinate,
  low: Key | undefined,
  high: Key | undefined,
): Promise<Span | undefined> {
  const { length, scale } = coordinate;
  if (!scale.isMeasured) await coordinate.all();
  const first = await coordinate.keyAt(0);
  const last = await coordinate.keyAt(length - 1);
  if (first === undefined || last === undefined) return undefined;
  const direction = compareLabels(first, last) > 0 ? -1 : 1;
  const [near, far] = direction > 0 ? [low, high] : [high, low];
  const passed = (bound: Key, isIncluded: boolean) => (key: Key) => {
    const beyond = direction * compareLabels(key, bound);
    return beyond > 0 || (isIncluded && beyond === 0);
  };
  const start = near === undefined ? 0 : await firstWhere(coordinate, passed(near, true));
  const stop = far === undefined ? length : await firstWhere(coordinate, passed(far, false));
  return coordinate.isSorted(direction) ? { start, stop } : undefined;
}

/** Index of the first item that passes, if all later items pass too. */
async function firstWhere(coordinate: Coordinate, passes: (key: Key) => boolean): Promise<number> {
  let low = 0;
  let high = coordinate.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const key = await coordinate.keyAt(middle);
    if (key !== undefined && passes(key)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Finds the item nearest to a key that no item has; of two equally near ones, the larger. Undefined if the key is
 * more than half a step beyond the ends.
 */
async function nearestOf(coordinate: Coordinate, key: Key, at: number): Promise<number | undefined> {
  const { length, scale } = coordinate;
  if (!scale.isMeasured) return undefined;
  if (at === 0 || at === length) {
    const end = at === 0 ? 0 : length - 1;
    const beside = await coordinate.keyAt(at === 0 ? 1 : length - 2);
    const atEnd = await coordinate.keyAt(end);
    if (length < 2 || atEnd === undefined || beside === undefined) return undefined;
    return 2 * distance(atEnd, key) <= distance(atEnd, beside) ? end : undefined;
  }
  const [before, after] = [await coordinate.keyAt(at - 1), await coordinate.keyAt(at)];
  if (before === undefined || after === undefined) return undefined;
  const nearer = compareDistances(key, before, after);
  if (nearer !== 0) return nearer < 0 ? at - 1 : at;
  return compareLabels(before, after) > 0 ? at - 1 : at;
}

function distance(a: Key, b: Key): number {
  if (typeof a === "bigint" && typeof b === "bigint") return Number(a > b ? a - b : b - a);
  return Math.abs(Number(a) - Number(b));
}

/** Negative if `a` is nearer to a key than `b`, 0 if both are equally near. */
function compareDistances(key: Key, a: Key, b: Key): number {
  return distance(key, a) - distance(key, b);
}

/** Reads all values of an unsorted coordinate, and returns the items within an interval. */
async function matches(coordinate: Coordinate, { low, high }: Interval): Promise<number[]> {
  const keys = await coordinate.all();
  return keys.flatMap((key, i) =>
    key !== undefined && compareLabels(key, low) >= 0 && compareLabels(key, high) <= 0 ? [i] : [],
  );
}

async function findUnsorted(
  coordinate: Coordinate,
  question: LabelQuestion,
  asked: Interval,
): Promise<IndexRange> {
  const found = await matches(coordinate, asked);
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) {
    throw failure(
      coordinate,
      question,
      `has no item ${labelsText(question.labels)}`,
      hintOfUnsorted(coordinate, question),
    );
  }
  if (last - first + 1 !== found.length) {
    const reason = `has ${labelsText(question.labels)} at items that are not consecutive`;
    throw failure(coordinate, question, reason, "Use indices.");
  }
  return found.length > 1 || asked.isSpan(coordinate.known()) ? [first, last + 1] : first;
}

/** Finds the items between two labels of an unsorted coordinate, in item order. */
async function spanOfUnsorted(
  coordinate: Coordinate,
  question: LabelQuestion,
  from: Interval | undefined,
  to: Interval | undefined,
): Promise<Span> {
  const itemOf = async (end: Interval | undefined, fallback: number, place: 0 | -1) => {
    if (end === undefined) return fallback;
    const found = (await matches(coordinate, end)).at(place);
    if (found !== undefined) return found;
    throw failure(
      coordinate,
      question,
      `is not sorted, and has no item at an end of ${labelsText(question.labels)}`,
      hintOfUnsorted(coordinate, question),
    );
  };
  const start = await itemOf(from, 0, 0);
  const stop = (await itemOf(to, coordinate.length - 1, -1)) + 1;
  if (start < stop) return { start, stop };
  const reason = `is not sorted, and has the ends of ${labelsText(question.labels)} in reverse order`;
  throw failure(coordinate, question, reason, "Put the label that comes first in the coordinate first.");
}

function hintOfUnsorted(coordinate: Coordinate, { labels, nearest }: LabelQuestion): string {
  const { scale } = coordinate;
  const known = coordinate.known().map(scale.text);
  const near = scale.isMeasured ? undefined : nearestName(labelsText(labels), known);
  const shown = known.slice(0, 5);
  const values = shown.join(", ") + (coordinate.length > shown.length ? ", ..." : "");
  if (nearest && !scale.isMeasured) {
    const meant = near === undefined ? `its values are ${values}` : `\`${near}\` may be meant`;
    return `There is no nearest item among ${scale.expected}; ${meant}.`;
  }
  return near === undefined ? `Its values are ${values}.` : `Did you mean \`${near}\`?`;
}

/** Error for an interval without items in a sorted coordinate. `at` is the index where one would be. */
async function notFound(
  coordinate: Coordinate,
  question: LabelQuestion,
  { low, high }: { readonly low: Key | undefined; readonly high: Key | undefined },
  at: number,
): Promise<ZarrflowError> {
  const { length, scale } = coordinate;
  const keys = [await coordinate.keyAt(0), await coordinate.keyAt(length - 1)] as [Key, Key];
  const [least, most] = keys.sort(compareLabels);
  const ends = `${scale.text(least)} to ${scale.text(most)}`;
  const isBelow = high !== undefined && compareLabels(high, least) < 0;
  const isAbove = low !== undefined && compareLabels(low, most) > 0;
  if (isBelow || isAbove) {
    const reason = `goes from ${ends}: ${labelsText(question.labels)} is outside`;
    return failure(coordinate, question, reason, `Use labels from ${ends}.`);
  }
  const around = [await coordinate.keyAt(at - 1), await coordinate.keyAt(at)] as [Key, Key];
  const [before, after] = around.sort(compareLabels);
  const nearest = Array.isArray(question.labels)
    ? ""
    : ", or the nearest one with --nearest (in code nearest: true)";
  const hint = `Use ${asTyped(scale.text(before))} or ${asTyped(scale.text(after))}${nearest}.`;
  return failure(coordinate, question, `has no item ${labelsText(question.labels)}`, hint);
}

/** Writes a label for the command line, where bare whole numbers are indices. */
function asTyped(label: string): string {
  return /^-?\d+$/.test(label) ? `${label}.0` : label;
}

function wrongKind(coordinate: Coordinate, question: LabelQuestion, label: unknown): ZarrflowError {
  const { scale } = coordinate;
  if (label instanceof Date && Number.isNaN(label.getTime())) {
    const hint = 'Use a valid date, such as new Date("2019-03-01T12:00Z").';
    return failure(coordinate, question, "cannot be looked up by an invalid Date", hint);
  }
  const reason = `has no label ${labelsText(label as Label)}`;
  return failure(coordinate, question, reason, `Its labels are ${scale.expected}.`);
}

function failure(
  { array }: Coordinate,
  { dimension }: LabelQuestion,
  reason: string,
  hint: string,
): ZarrflowError {
  return new ZarrflowError("invalid-selection", `the coordinate ${dimension} ${reason}`, {
    path: array.path,
    hint,
  });
}

/** Writes labels as on the command line. */
export function labelsText(labels: LabelRange): string {
  if (!Array.isArray(labels)) return wordOf(labels as Label);
  return (labels as readonly (Label | null)[]).map((end) => (end === null ? "" : wordOf(end))).join("..");
}

function wordOf(label: Label): string {
  return label instanceof Date && !Number.isNaN(label.getTime()) ? label.toISOString() : String(label);
}
