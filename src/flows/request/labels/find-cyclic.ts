import { nameOf } from "../../../hierarchy/array-name.ts";
import { type CyclicRange, storedHolds } from "../../../hierarchy/cyclic-range.ts";
import type { ZarrArray } from "../../../hierarchy/node.ts";
import { FULL_TURN } from "../../../meta/conventions/geo/numbers.ts";
import { lastName } from "../../../util/node-path.ts";
import type { Coordinate } from "./coordinate.ts";
import type { Key } from "./label-scale.ts";

/** A coordinate of longitudes all around the globe. */
export interface Circle {
  readonly longitudes: readonly number[];
  /** Items that differ: all, or all but a last one that is the first one again, as 360 is 0. */
  readonly items: number;
  /** Whether longitudes increase with the index. */
  readonly isEastward: boolean;
  /** Whether stored longitudes, which do not begin anew among themselves, reach as far as one. */
  readonly isStored: (longitude: number) => boolean;
  /** Degrees by which labels may miss an item, which are rounded: a thousandth of a step. */
  readonly tolerance: number;
}

/** A coordinate as a circle; undefined where it has other values than longitudes in their order, once around the globe. */
export async function circleOf(coordinate: Coordinate): Promise<Circle | undefined> {
  if (!coordinate.scale.isLongitude || coordinate.length < 2) return undefined;
  const keys: (Key | undefined)[] = await coordinate.all();
  const longitudes = keys.map(Number);
  const last = longitudes.length - 1;
  const steps = longitudes.slice(1).map((one, i) => one - (longitudes[i] ?? 0));
  const isEastward = steps.filter((step) => step > 0).length >= steps.length / 2;
  const sign = isEastward ? 1 : -1;
  // where stored values begin anew, a turn is missing
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
 * The items whose longitudes lie from `west` to `east`, going east. They are counted as asked: up from `west` or, where it is
 * the larger, across the meridian from which the numbers begin anew. As in CDO, that is 0 for 350..10, which is -10..10, and
 * 180 for 170..-170, which is 170..190. Undefined where there is none.
 *
 * @param by one item of so many
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
 * The items whose cells overlap a part of the globe, from `west` to `east`, going east. Cells end in the middle between items.
 * Undefined where there is none.
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

/** Where the cell of an item begins and ends, going east: in the middle to the items beside it. */
export function cellOf(
  { longitudes, items, isEastward }: Circle,
  item: number,
): [west: number, east: number] {
  const at = longitudes[item] ?? 0;
  const beside = (by: number) => longitudes[(item + by + items) % items] ?? 0;
  const [before, after] = isEastward ? [beside(-1), beside(1)] : [beside(1), beside(-1)];
  const ahead = (from: number, to: number) => (((to - from) % FULL_TURN) + FULL_TURN) % FULL_TURN;
  return [at - ahead(before, at) / 2, at + ahead(at, after) / 2];
}

/** Which items are taken, and by how many turns their labels differ from stored ones. */
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

/** How many turns away labels fit the integers of an array that is to hold them; 0 where they do, or nowhere. */
function turnsThatFit({ metadata: { dataType, attributes } }: ZarrArray, labels: readonly number[]): number {
  const fits = (turns: number) =>
    storedHolds(
      dataType,
      attributes,
      labels.map((label) => label + FULL_TURN * turns),
    );
  return [0, 1, -1].find(fits) ?? 0;
}

/** The item nearest to a longitude, the eastern one of two as near; with `isExact` only one that has it. */
export function itemNear(circle: Circle, longitude: number, isExact: boolean): number | undefined {
  const { longitudes, items, tolerance } = circle;
  let nearest: number | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (let item = 0; item < items; item++) {
    const ahead = ((((longitudes[item] ?? 0) - longitude) % FULL_TURN) + FULL_TURN) % FULL_TURN;
    const away = Math.min(ahead, FULL_TURN - ahead);
    if (away < least || (away === least && ahead === away)) {
      least = away;
      nearest = item;
    }
  }
  return isExact && least > tolerance ? undefined : nearest;
}
