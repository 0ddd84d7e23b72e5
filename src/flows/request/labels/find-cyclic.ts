import { nameOf, type ZarrArray } from "../../../hierarchy/node.ts";
import { type CyclicRange, storedHolds } from "../../../hierarchy/slice-option.ts";
import { lastName } from "../../../util/node-path.ts";
import { FULL_TURN, modulo } from "../../../util/numbers.ts";
import type { Coordinate, Key } from "./coordinate.ts";

/** A coordinate with longitudes all around the globe. */
export interface Circle {
  readonly longitudes: readonly number[];
  /** Number of distinct items: all, or all but the last if it repeats the first, as 360 repeats 0. */
  readonly items: number;
  /** True if longitudes increase with the index. */
  readonly isEastward: boolean;
  /** True if a longitude is within the range of the stored ones, and these have no seam. */
  readonly isStored: (longitude: number) => boolean;
  /** Degrees by which a label may miss an item because of rounding: a thousandth of a step. */
  readonly tolerance: number;
}

/** Returns a coordinate as a circle; undefined unless its values are longitudes in order, once around the globe. */
export async function circleOf(coordinate: Coordinate): Promise<Circle | undefined> {
  if (!coordinate.scale.isLongitude || coordinate.length < 2) return undefined;
  const keys: (Key | undefined)[] = await coordinate.all();
  const longitudes = keys.map(Number);
  const last = longitudes.length - 1;
  const steps = longitudes.slice(1).map((one, i) => one - (longitudes[i] ?? 0));
  const isEastward = steps.filter((step) => step > 0).length >= steps.length / 2;
  const sign = isEastward ? 1 : -1;
  // a stored seam hides a full turn
  const seams = steps.filter((step) => step * sign < 0).length;
  const span = sign * ((longitudes[last] ?? 0) - (longitudes[0] ?? 0)) + seams * FULL_TURN;
  const step = span / last;
  const gap = FULL_TURN - span;
  const tolerance = step / 1000;
  const isAround = seams <= 1 && step > 0 && gap > -tolerance && gap < 1.5 * step;
  const areApart = steps.every((one) => one !== 0 && Math.abs(one) <= FULL_TURN);
  if (!isAround || !areApart) return undefined;
  const [first = 0, end = 0] = [longitudes[0], longitudes[last]];
  const isStored = (longitude: number) =>
    seams === 0 && longitude >= Math.min(first, end) && longitude <= Math.max(first, end);
  return { longitudes, items: gap < step / 2 ? last : last + 1, isEastward, isStored, tolerance };
}

/**
 * Finds the items whose longitudes are between `west` and `east`, going east. Their labels increase from `west`. If
 * `west` is the larger number, the range crosses the meridian where numbering restarts, as in CDO: 350..10 crosses
 * 0 and becomes -10..10, 170..-170 crosses 180 and becomes 170..190. Undefined if no item is in range.
 *
 * @param by step: takes every n-th item
 */
export function itemsBetween(
  circle: Circle,
  { west, east, by }: { readonly west: number; readonly east: number; readonly by: number },
  coordinate: ZarrArray,
): CyclicRange | undefined {
  const { longitudes, tolerance } = circle;
  const crosses = west > east;
  const from = crosses && west >= 180 ? west - FULL_TURN : west;
  const to = crosses ? east + FULL_TURN * Math.ceil((from - east) / FULL_TURN) : east;
  const turnsOf = (item: number) => -Math.floor(((longitudes[item] ?? 0) - from + tolerance) / FULL_TURN);
  const isIn = (item: number, turns: number) => (longitudes[item] ?? 0) + FULL_TURN * turns <= to + tolerance;
  return rangeOf(circle, { turnsOf, isIn, by }, coordinate);
}

/**
 * Finds the items whose cells overlap a part of the globe, going east from `west` to `east`. Cells end halfway
 * between items. Undefined if no cell overlaps.
 */
export function itemsOverlapping(
  circle: Circle,
  { west, east, by }: { readonly west: number; readonly east: number; readonly by: number },
  coordinate: ZarrArray,
): CyclicRange | undefined {
  const turnsOf = (item: number) => 1 - Math.ceil((cellOf(circle, item)[1] - west) / FULL_TURN);
  const isIn = (item: number, turns: number) => cellOf(circle, item)[0] + FULL_TURN * turns < east;
  return rangeOf(circle, { turnsOf, isIn, by }, coordinate);
}

/** Returns the western and eastern edge of an item's cell: halfway to its neighbors. */
export function cellOf(
  { longitudes, items, isEastward }: Circle,
  item: number,
): [west: number, east: number] {
  const at = longitudes[item] ?? 0;
  const beside = (by: number) => longitudes[(item + by + items) % items] ?? 0;
  const [before, after] = isEastward ? [beside(-1), beside(1)] : [beside(1), beside(-1)];
  const ahead = (from: number, to: number) => modulo(to - from, FULL_TURN);
  return [at - ahead(before, at) / 2, at + ahead(at, after) / 2];
}

/** Selects items, and gives the full turns that their labels are shifted by. */
interface Wanted {
  readonly turnsOf: (item: number) => number;
  readonly isIn: (item: number, turns: number) => boolean;
  readonly by: number;
}

function rangeOf(
  { longitudes, items, isEastward }: Circle,
  { turnsOf, isIn, by }: Wanted,
  array: ZarrArray,
): CyclicRange | undefined {
  const label = (item: number) => (longitudes[item] ?? 0) + FULL_TURN * turnsOf(item);
  const found = Array.from({ length: items }, (_, item) => item).filter((item) => isIn(item, turnsOf(item)));
  if (found.length === 0) return undefined;
  const first = found.reduce((best, item) => (label(item) < label(best) === isEastward ? item : best));
  const count = Math.ceil(found.length / by);
  const results = Array.from({ length: count }, (_, i) => (first + i * by) % items);
  const turns: { from: number; turns: number }[] = [];
  const labels = results.map(label);
  const offset = turnsThatFit(array, labels);
  const shifted = labels.map((one) => one + offset * FULL_TURN);
  const extent = [Math.min(...shifted), Math.max(...shifted)] as const;
  for (const [i, item] of results.entries()) {
    const here = turnsOf(item) + offset;
    if (turns.at(-1)?.turns !== here) turns.push({ from: i, turns: here });
  }
  const { bounds } = array.attributes;
  const names = [nameOf(array), ...(typeof bounds === "string" ? [lastName(bounds)] : [])];
  const goesRound = first + (count - 1) * by >= items;
  return { cyclic: { start: first, step: by, count, cycle: goesRound ? items : 0, turns, extent, names } };
}

/** Returns the full turns that make labels fit the integer type of an array; 0 if they fit already, or never. */
function turnsThatFit({ metadata: { dataType, attributes } }: ZarrArray, labels: readonly number[]): number {
  const fits = (turns: number) =>
    storedHolds(
      dataType,
      attributes,
      labels.map((label) => label + FULL_TURN * turns),
    );
  return [0, 1, -1].find(fits) ?? 0;
}

/**
 * Finds the item nearest to a longitude; of two equally near ones, the eastern. With `isExact`, only an item at the
 * longitude itself.
 */
export function itemNear(circle: Circle, longitude: number, isExact: boolean): number | undefined {
  const { longitudes, items, tolerance } = circle;
  let nearest: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let item = 0; item < items; item++) {
    const ahead = modulo((longitudes[item] ?? 0) - longitude, FULL_TURN);
    const away = Math.min(ahead, FULL_TURN - ahead);
    if (away < least || (away === least && ahead === away)) {
      least = away;
      nearest = item;
    }
  }
  return isExact && least > tolerance ? undefined : nearest;
}
