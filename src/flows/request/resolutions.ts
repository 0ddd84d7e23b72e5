import { type CyclicRange, isCyclic } from "../../hierarchy/cyclic-range.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { type Range, resolveSlice, type SliceOption } from "../../hierarchy/slice-option.ts";
import { FULL_TURN } from "../../meta/conventions/geo/numbers.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { DEFAULT_MAX_MEMORY } from "../../streams/default-memory.ts";
import { parseBytes } from "../../util/byte-size.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { type GroupArray, groupOf, leaderOf } from "./dimension-lengths.ts";
import { followingLevels } from "./image-slice.ts";
import type { Coordinate, CoordinateOptions } from "./labels/coordinate.ts";
import { findCoordinate, openCoordinate } from "./labels/find-coordinate.ts";
import { cellOf, circleOf, itemsOverlapping } from "./labels/find-cyclic.ts";
import type { SlicedNodes, SliceReading } from "./slice-indices.ts";
import { usualConcurrency } from "./usual-concurrency.ts";

/** Ranges, by array path, for arrays whose dimensions differ in length from those that the requested ranges count. */
export type OtherRanges = ReadonlyMap<string, Readonly<Record<string, Range>>>;

/**
 * Finds the ranges of a slice by indices in arrays of other resolutions. Uses the coordinates of both arrays to
 * find the items whose cells overlap the items taken of the largest array. Steps are the same in all arrays. Arrays
 * without a sorted coordinate of numbers or times get no ranges.
 *
 * @param option without labels
 */
export async function otherResolutions(
  option: SliceOption,
  { root, all, taken, axes }: SlicedNodes,
  reading: SliceReading,
): Promise<OtherRanges> {
  if (root.kind === "array" || Array.isArray(option)) return new Map();
  const following = followingLevels(all);
  const arrays = taken.flatMap((node) => {
    if (node.kind === "group" || following.has(node.path)) return [];
    return [{ path: node.path, node, metadata: withAxes(node.metadata, axes.get(node.path)) }];
  });
  const within = { path: root.path, nodes: new Map(all.map((node) => [node.path, node])) };
  const concurrency = usualConcurrency(reading.concurrency, root.spec);
  const maxMemory = parseBytes(reading.maxMemory ?? DEFAULT_MAX_MEMORY);
  const places = new Places(within, { maxMemory, concurrency, signal: reading.signal });
  const ranges = Object.entries(option as Readonly<Record<string, Range>>);
  const found = new Map<string, Record<string, Range>>();
  const unknown = new Set<string>();
  for (const [name, range] of ranges) {
    const leader = leaderOf(name, arrays);
    for (const array of arrays) {
      const length = lengthOf(array, name);
      if (leader === undefined || length === undefined || groupOf(array) === groupOf(leader)) continue;
      if (length === lengthOf(leader, name)) continue;
      const own = await overlapping({ name, range, leader, array }, places);
      if (own) found.set(array.path, { ...found.get(array.path), [name]: own });
      else unknown.add(array.path);
    }
  }
  // dimensions of the same length keep the requested ranges
  for (const [path, own] of found) {
    const names = arrays.find((array) => array.path === path)?.metadata.dimensionNames ?? [];
    const same = ranges.filter(([name]) => names.includes(name) && !(name in own));
    found.set(path, { ...own, ...Object.fromEntries(same) });
  }
  for (const path of unknown) found.delete(path);
  return found;
}

interface OpenArray extends GroupArray {
  readonly node: ZarrArray;
}

function lengthOf({ metadata }: GroupArray, name: string): number | undefined {
  return metadata.shape[metadata.dimensionNames?.indexOf(name) ?? -1];
}

/**
 * Finds the items whose cells overlap those that a range takes of another array; undefined if the coordinates do
 * not tell.
 */
async function overlapping(
  {
    name,
    range,
    leader,
    array,
  }: {
    readonly name: string;
    readonly range: Range;
    readonly leader: OpenArray;
    readonly array: OpenArray;
  },
  places: Places,
): Promise<Range | undefined> {
  if (isCyclic(range)) return overlappingAround(range, { name, leader, array }, places);
  const { selection } = resolveSlice({ [name]: range }, leader.metadata, leader.path);
  const d = leader.metadata.dimensionNames?.indexOf(name) ?? 0;
  const [start = 0, step = 1, count = 0] = [selection.start[d], selection.step[d], selection.shape[d]];
  if (count === 0) return [0, 0];
  const whole = await places.edgesOf(leader, name);
  const own = await places.edgesOf(array, name);
  if (whole === undefined || own === undefined) return undefined;
  const ends = [whole[start] ?? 0, whole[start + (count - 1) * step + 1] ?? 0];
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const nearly = (NEARLY * (high - low)) / count;
  const cells = own.slice(1).map((end, i) => [Math.min(end, own[i] ?? end), Math.max(end, own[i] ?? end)]);
  const isIn = ([from = 0, to = 0]: readonly number[]) => to > low + nearly && from < high - nearly;
  const first = cells.findIndex(isIn);
  return first < 0 ? undefined : [first, cells.findLastIndex(isIn) + 1, step];
}

/** The same for a range of longitudes that are shifted by full turns. */
async function overlappingAround(
  { cyclic: { start, step, count, turns } }: CyclicRange,
  { name, leader, array }: { readonly name: string; readonly leader: OpenArray; readonly array: OpenArray },
  places: Places,
): Promise<Range | undefined> {
  if (lengthOf(array, name) === 1) return [0, 1];
  const [whole, own] = [await places.circleOf(leader, name), await places.circleOf(array, name)];
  if (whole === undefined || own === undefined) return undefined;
  const ends = [0, count - 1].flatMap((result) => {
    const by = FULL_TURN * (turns.findLast(({ from }) => from <= result)?.turns ?? 0);
    return cellOf(whole.circle, (start + result * step) % whole.circle.items).map((edge) => edge + by);
  });
  const [west, east] = [Math.min(...ends), Math.max(...ends)];
  const nearly = (NEARLY * (east - west)) / count;
  return itemsOverlapping(own.circle, { west: west + nearly, east: east - nearly, by: step }, own.array);
}

/** Tolerance for rounding errors of an edge, in cells. */
const NEARLY = 1e-6;

/** Errors of coordinates that are treated like a missing coordinate. */
const SILENT = ["unsupported-operation", "resource-limit"] as const;

/** Finds the cell edges of dimensions. Reads each coordinate once. */
class Places {
  readonly #within: { readonly path: string; readonly nodes: ReadonlyMap<string, ZarrNode> };
  readonly #options: CoordinateOptions;
  readonly #known = new Map<string, Promise<Coordinate | undefined>>();

  constructor(
    within: { readonly path: string; readonly nodes: ReadonlyMap<string, ZarrNode> },
    options: CoordinateOptions,
  ) {
    this.#within = within;
    this.#options = options;
  }

  /** Returns the cell edges in order, one more than items; undefined without a sorted coordinate. */
  async edgesOf(array: OpenArray, name: string): Promise<number[] | undefined> {
    const coordinate = await this.#coordinateOf(array, name);
    if (coordinate === undefined) return undefined;
    const keys = await coordinate.all();
    const isInOrder = coordinate.isSorted(1) || coordinate.isSorted(-1);
    return isInOrder ? edgesOf(keys.map(Number)) : undefined;
  }

  /** Returns the coordinate of a dimension if it has longitudes all around the globe; undefined otherwise. */
  async circleOf(array: OpenArray, name: string) {
    const coordinate = await this.#coordinateOf(array, name);
    const circle = coordinate && (await circleOf(coordinate));
    return circle && { circle, array: coordinate.array };
  }

  async #coordinateOf(array: OpenArray, name: string): Promise<Coordinate | undefined> {
    const { signal } = this.#options;
    const found = await findCoordinate({ array: array.node, within: this.#within }, name, signal);
    if (found === undefined || found.shape[0] !== lengthOf(array, name)) return undefined;
    const known = this.#known.get(found.path) ?? this.#read(found);
    this.#known.set(found.path, known);
    return known;
  }

  async #read(array: ZarrArray): Promise<Coordinate | undefined> {
    try {
      const coordinate = await openCoordinate(array, this.#options);
      if (!coordinate.scale.isMeasured) return undefined;
      await coordinate.all();
      return coordinate;
    } catch (error) {
      if (SILENT.some((code) => isZarrflowError(error, code))) return undefined;
      throw error;
    }
  }
}

/** Returns the midpoints between items, and the outer edges at the same distance. A single item covers everything. */
function edgesOf(places: readonly number[]): number[] {
  const [first = 0] = places;
  const last = places.at(-1) ?? first;
  if (places.length < 2) return [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const middles = places.slice(1).map((place, i) => ((places[i] ?? place) + place) / 2);
  const [second = 0] = middles;
  const beforeLast = middles.at(-1) ?? last;
  return [2 * first - second, ...middles, 2 * last - beforeLast];
}
