import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import {
  type CyclicRange,
  isCyclic,
  type Range,
  resolveSlice,
  type SliceOption,
} from "../../hierarchy/slice-option.ts";
import type { NodeMetadata } from "../../meta/array-metadata.ts";
import { multiscalesOf } from "../../meta/conventions/ome/attributes.ts";
import { cutImages, type Placement, placementOf } from "../../meta/conventions/ome/placement.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { memoryLimit } from "../../streams/byte-budget.ts";
import type { Selection } from "../../streams/selection.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { FULL_TURN } from "../../util/numbers.ts";
import { type GroupArray, groupOf, leaderOf } from "./group-arrays.ts";
import type { Coordinate, CoordinateOptions } from "./labels/coordinate.ts";
import { findCoordinate, openCoordinate } from "./labels/find-coordinate.ts";
import { cellOf, circleOf, itemsOverlapping } from "./labels/find-cyclic.ts";
import type { SlicedNodes, SliceReading } from "./slice-indices.ts";
import { usualConcurrency } from "./store-settings.ts";

/** A node of the group that is sliced. */
export interface ImageNode {
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/**
 * A level of an image, and the level whose items ranges count: the first of the image or, for labels, of the image that
 * they label.
 */
export interface SlicedLevel {
  readonly path: string;
  /** Path of the level that ranges refer to. */
  readonly first: string;
  readonly axes: readonly AxisOfLevel[];
}

interface AxisOfLevel {
  readonly name: string;
  readonly length: number;
  /**
   * The same axis of the first level; undefined if it has none, or if this level has a single item for the whole
   * axis.
   */
  readonly first: { readonly dimension: number; readonly length: number } | undefined;
  /** Items of the first level per item of this level. */
  readonly ratio: number;
}

interface Image {
  readonly path: string;
  readonly axes: readonly string[];
  readonly levels: readonly {
    readonly path: string;
    readonly shape: readonly number[];
    readonly placement: Placement | undefined;
  }[];
}

/**
 * Finds the levels that are cut like another one, by path: all levels of an image after the first, and those of
 * labels.
 *
 * @throws `unsupported-operation` for unknown transformations.
 */
export function followingLevels(nodes: readonly ImageNode[]): ReadonlyMap<string, SlicedLevel> {
  const images = imagesAmong(nodes);
  const following = new Map<string, SlicedLevel>();
  for (const image of images.values()) {
    const shown = images.get(labeledBy(image.path) ?? image.path) ?? image;
    for (const level of image.levels) {
      const [first] = shown.levels;
      if (first === undefined || level.path === first.path || following.has(level.path)) continue;
      const axes = image.axes.map((name, d): AxisOfLevel => {
        const length = level.shape[d] ?? 0;
        const dimension = shown.axes.indexOf(name);
        const whole = first.shape[dimension];
        const stated = (level.placement?.scale[d] ?? 0) / (first.placement?.scale[dimension] ?? 0);
        const ratio = Number.isFinite(stated) && stated > 0 ? stated : (whole ?? length) / length;
        const isAnywhere = whole === undefined || (length === 1 && whole > 1 && Math.abs(ratio - 1) < NEARLY);
        return { name, length, first: isAnywhere ? undefined : { dimension, length: whole }, ratio };
      });
      following.set(level.path, { path: level.path, first: first.path, axes });
    }
  }
  return following;
}

/** Path of the image that labels belong to; undefined if the path is not below `labels`. */
function labeledBy(path: string): string | undefined {
  const labels = /^(?:(.*)\/)?labels\/.+$/.exec(path);
  return labels ? (labels[1] ?? "") : undefined;
}

function shapesByPath(nodes: readonly ImageNode[]): ReadonlyMap<string, readonly number[]> {
  return new Map(
    nodes.flatMap(({ path, metadata }) =>
      metadata.kind === "array" ? [[path, metadata.shape] as const] : [],
    ),
  );
}

function imagesAmong(nodes: readonly ImageNode[]): ReadonlyMap<string, Image> {
  const shapes = shapesByPath(nodes);
  const images = new Map<string, Image>();
  for (const { path, metadata } of nodes) {
    if (metadata.kind === "array") continue;
    const [image] = multiscalesOf(metadata.attributes);
    const { axes, levels = [] } = image ?? {};
    if (axes === undefined) continue;
    const there = levels.flatMap((level) => {
      const at = joinKey(path, level.path);
      const shape = shapes.get(at);
      if (shape?.length !== axes.length) return [];
      return [{ path: at, shape, placement: placementOf(level.transformations, axes.length) }];
    });
    images.set(path, { path, axes, levels: there });
  }
  return images;
}

/** Tolerance for rounding errors of a quotient. */
const NEARLY = 1e-6;

/**
 * Maps a selection of the first level to another level: the items that overlap it, `floor(start / ratio)` to
 * `ceil(stop / ratio)`, with the same step.
 *
 * @throws `invalid-selection` if the length of a level contradicts its scale.
 */
export function selectionOfLevel({ path, axes }: SlicedLevel, of: Selection): Selection {
  if (of.cycle || of.shift) {
    throw new ZarrflowError("unsupported-operation", "levels of an image cannot be sliced across a seam", {
      path,
      hint: "Slice one level instead of the image.",
    });
  }
  const cuts = axes.map(({ name, length, first, ratio }) => {
    if (first === undefined) return { start: 0, step: 1, count: length };
    const { dimension } = first;
    const [start, step, count] = [
      of.start[dimension] ?? 0,
      of.step[dimension] ?? 1,
      of.shape[dimension] ?? 0,
    ];
    if (start === 0 && step === 1 && count === first.length) return { start: 0, step: 1, count: length };
    if (Math.abs(first.length / ratio - length) > 1 + NEARLY)
      throw otherLength(path, name, length, first.length / ratio);
    if (count === 0) return { start: 0, step, count: 0 };
    const from = Math.min(Math.floor(start / ratio + NEARLY), Math.max(0, length - 1));
    const stop = Math.min(Math.ceil((start + (count - 1) * step + 1) / ratio - NEARLY), length);
    return { start: from, step, count: Math.max(1, Math.ceil((stop - from) / step)) };
  });
  return {
    start: cuts.map(({ start }) => start),
    step: cuts.map(({ step }) => step),
    shape: cuts.map(({ count }) => count),
  };
}

function assertNotEmpty(path: string, { shape }: Selection, whole: readonly number[]): void {
  if (!shape.some((n, d) => n === 0 && whole[d] !== 0)) return;
  throw new ZarrflowError("invalid-selection", "the slice would leave no items of the image", {
    path,
    found: `${whole.join(" x ")} items become ${shape.join(" x ")}`,
    hint: "Use ranges that start before they stop.",
  });
}

function otherLength(path: string, name: string, length: number, expected: number): ZarrflowError {
  return new ZarrflowError(
    "invalid-selection",
    `the length of a level of the image along ${name} does not match its scale`,
    {
      path,
      expected: `about ${Math.round(expected)} items`,
      found: length,
      hint: "Slice one level instead of the image.",
    },
  );
}

/**
 * Updates the metadata of groups whose images are cut, by path.
 *
 * @throws `invalid-selection` if nothing is left of an image; as `cutImages`
 */
export function groupsOfCutImages(
  nodes: readonly ImageNode[],
  selections: ReadonlyMap<string, Selection>,
): ReadonlyMap<string, NodeMetadata> {
  const shapes = shapesByPath(nodes);
  const groups = new Map<string, NodeMetadata>();
  for (const { path, metadata } of nodes) {
    if (metadata.kind === "array") continue;
    const attributes = cutImages(metadata.attributes, (below) => {
      const at = joinKey(path, below);
      const selection = selections.get(at);
      const whole = shapes.get(at);
      if (selection && whole) assertNotEmpty(at, selection, whole);
      return selection;
    });
    if (attributes !== metadata.attributes) groups.set(path, { ...metadata, attributes });
  }
  return groups;
}

/** Ranges, by array path, for arrays whose dimensions differ in length from those that the requested ranges count. */
export type OtherRanges = ReadonlyMap<string, Readonly<Record<string, Range>>>;

/**
 * Finds the ranges of a slice by indices in arrays of other resolutions. Uses the coordinates of both arrays to find
 * the items whose cells overlap the selected items of the largest array. Steps are the same in all arrays. Arrays
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
  const maxMemory = memoryLimit(reading);
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
  const nearly = (NEARLY_A_CELL * (high - low)) / count;
  const cells = own.slice(1).map((end, i) => [Math.min(end, own[i] ?? end), Math.max(end, own[i] ?? end)]);
  const isIn = ([from = 0, to = 0]: readonly number[]) => to > low + nearly && from < high - nearly;
  const first = cells.findIndex(isIn);
  return first < 0 ? undefined : [first, cells.findLastIndex(isIn) + 1, step];
}

/** As `overlapping`, for a range of longitudes that are shifted by full turns. */
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
  const nearly = (NEARLY_A_CELL * (east - west)) / count;
  return itemsOverlapping(own.circle, { west: west + nearly, east: east - nearly, by: step }, own.array);
}

/** Tolerance for rounding errors of an edge, in cells. */
const NEARLY_A_CELL = 1e-6;

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
