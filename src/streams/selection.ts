import type { BoxLayout } from "../codecs/kernels/copy-box.ts";
import type { ChunkRef, Region } from "./chunk.ts";

/**
 * A box of an array with steps: item `o` of the result is item `start + step * o` of the array. Steps are >= 1. Along a
 * cyclic dimension, such as longitude, the box may continue beyond the last item with the first.
 */
export interface Selection {
  readonly start: readonly number[];
  readonly step: readonly number[];
  /** Shape of the result. */
  readonly shape: readonly number[];
  /**
   * Length of each cyclic dimension, whose first item follows its last; 0 for a dimension that does not wrap around.
   */
  readonly cycle?: readonly number[];
  /** Added to the numbers that are taken; nothing by default. */
  readonly shift?: Shift;
}

/** Numbers to add to stored numbers: one for each run of results along a dimension. */
export interface Shift {
  readonly dimension: number;
  /** Runs in order, each from its first result to the next run; the first starts at 0. */
  readonly runs: readonly { readonly from: number; readonly add: number }[];
}

/** Selects all of an array of `shape`. */
export function wholeSelection(shape: readonly number[]): Selection {
  return selectionOf({ start: shape.map(() => 0), shape });
}

/** Selects every item of a region. */
export function selectionOf({ start, shape }: Region): Selection {
  return { start, step: shape.map(() => 1), shape };
}

/** A run of results along one dimension. */
interface Run {
  readonly first: number;
  readonly count: number;
}

/** One dimension of a selection. */
function along({ start, step, shape, cycle }: Selection, d: number) {
  return { start: start[d] ?? 0, step: step[d] ?? 1, count: shape[d] ?? 0, cycle: cycle?.[d] ?? 0 };
}

/** The array index of a result along one dimension. */
export function itemAt(selection: Selection, d: number, result: number): number {
  const { start, step, cycle } = along(selection, d);
  const item = start + step * result;
  return cycle > 0 ? item % cycle : item;
}

/** The results along one dimension that fall into items `[from, from + length)`: at most two runs, none empty. */
function selectedRuns(selection: Selection, d: number, from: number, length: number): Run[] {
  const { start, step, count, cycle } = along(selection, d);
  const runFrom = (at: number, items: number): Run => {
    const first = Math.max(0, Math.ceil((at - start) / step));
    return { first, count: Math.min(count, Math.ceil((at + items - start) / step)) - first };
  };
  // An item beyond the cycle repeats the first one and is not part of the selection.
  const items = cycle > 0 ? Math.min(length, cycle - from) : length;
  const runs = [runFrom(from, items), ...(cycle > 0 ? [runFrom(from + cycle, items)] : [])];
  return runs.filter((run) => run.count > 0);
}

/**
 * The regions of the result that fall into the region `source`. At most one, except along a cyclic dimension where the
 * selection wraps around and `source` contains both ends of the dimension.
 */
export function selectedRegions(selection: Selection, source: Region): Region[] {
  let regions: Region[] = [{ start: [], shape: [] }];
  for (let d = 0; d < selection.shape.length; d++) {
    const runs = selectedRuns(selection, d, source.start[d] ?? 0, source.shape[d] ?? 0);
    const before = regions;
    regions = runs.flatMap(({ first, count }) =>
      before.map(({ start, shape }) => ({ start: [...start, first], shape: [...shape, count] })),
    );
  }
  return regions;
}

/** The part of a selection that yields `region` of its result. */
export function selectionWithin(selection: Selection, region: Region): Selection {
  const { start, step, cycle } = selection;
  return {
    start: start.map((_, d) => itemAt(selection, d, region.start[d] ?? 0)),
    step,
    shape: region.shape,
    ...(cycle && { cycle }),
  };
}

/** The intersection of two regions; undefined if they share nothing. */
export function intersect(a: Region, b: Region): Region | undefined {
  const start: number[] = [];
  const shape: number[] = [];
  for (let d = 0; d < a.start.length; d++) {
    const from = Math.max(a.start[d] ?? 0, b.start[d] ?? 0);
    const to = Math.min((a.start[d] ?? 0) + (a.shape[d] ?? 0), (b.start[d] ?? 0) + (b.shape[d] ?? 0));
    if (to <= from) return undefined;
    start.push(from);
    shape.push(to - from);
  }
  return { start, shape };
}

/** Number of items that two regions share. */
export function countShared(a: Region, b: Region): number {
  let items = 1;
  for (let d = 0; d < a.start.length; d++) {
    const from = Math.max(a.start[d] ?? 0, b.start[d] ?? 0);
    const to = Math.min((a.start[d] ?? 0) + (a.shape[d] ?? 0), (b.start[d] ?? 0) + (b.shape[d] ?? 0));
    items *= Math.max(0, to - from);
  }
  return items;
}

/** The region of an array of `shape` that the chunk at `coords` covers. */
export function chunkRegion(
  coords: readonly number[],
  chunkShape: readonly number[],
  shape: readonly number[],
): Region {
  const start = coords.map((c, d) => c * (chunkShape[d] ?? 1));
  return {
    start,
    shape: start.map((from, d) => Math.max(0, Math.min(chunkShape[d] ?? 1, (shape[d] ?? 0) - from))),
  };
}

/** Layout, in a source piece with `strides`, of the items that become `region` of the target. */
export function boxInPiece(
  piece: ChunkRef,
  strides: readonly number[],
  region: Region,
  selection: Selection,
): BoxLayout {
  const stepped = new Array<number>(strides.length);
  let offset = 0;
  for (let d = 0; d < strides.length; d++) {
    const stride = strides[d] ?? 0;
    const step = selection.step[d] ?? 1;
    const item = itemAt(selection, d, region.start[d] ?? 0);
    offset += (item - (piece.region.start[d] ?? 0)) * stride;
    stepped[d] = stride * step;
  }
  return { offset, strides: stepped };
}

/**
 * One dimension of a selection, in items: `count` results, one every `step` items from `start`, over chunks of the
 * source. After `cycle` items the first one follows again; `cycle` is absent if the results do not reach that far.
 */
export interface Axis {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly sourceChunk: number;
  readonly cycle?: number;
}

/** The dimensions of a selection over chunks of `chunkShape`. */
export function axesOver({ start, step, shape, cycle }: Selection, chunkShape: readonly number[]): Axis[] {
  return shape.map((count, d) => ({
    start: start[d] ?? 0,
    step: step[d] ?? 1,
    count,
    sourceChunk: chunkShape[d] ?? 1,
    ...(cycle?.[d] && { cycle: cycle[d] }),
  }));
}

/**
 * Splits an axis where its cycle ends: the results before the seam, and those after, which start from the first item
 * again. Undefined if no results follow the seam.
 */
export function atSeam({
  cycle,
  ...axis
}: Axis): { readonly before: Axis; readonly after: Axis } | undefined {
  const { start, step, count } = axis;
  const seam = cycle === undefined ? count : Math.ceil((cycle - start) / step);
  if (cycle === undefined || seam >= count) return undefined;
  const before = { ...axis, count: seam };
  return { before, after: { ...axis, start: start + step * seam - cycle, count: count - seam } };
}

/** Source chunks along a dimension, ascending; computed on demand, not listed. */
export interface ChunkRun {
  readonly count: number;
  at(index: number): number;
}

/** A run of chunks that can be searched. */
export interface ChunkSet extends ChunkRun {
  has(chunk: number): boolean;
}

/** The source chunks along a dimension that hold any of the results `[first, first + count)`. */
export function chunksHit(axis: Axis, first: number, count: number): ChunkSet {
  const seam = atSeam(axis);
  if (seam) {
    const { before, after } = seam;
    const end = first + count;
    if (end <= before.count) return chunksHit(before, first, count);
    if (first >= before.count) return chunksHit(after, first - before.count, count);
    return joined(chunksHit(after, 0, end - before.count), chunksHit(before, first, before.count - first));
  }
  const { start, step, sourceChunk } = axis;
  const chunkOf = (result: number) => Math.floor((start + step * result) / sourceChunk);
  const has = (chunk: number) => {
    const result = Math.max(first, Math.ceil((chunk * sourceChunk - start) / step));
    return result < first + count && chunkOf(result) === chunk;
  };
  if (step > sourceChunk) return { count, at: (index) => chunkOf(first + index), has };
  const from = chunkOf(first);
  return { count: count === 0 ? 0 : chunkOf(first + count - 1) - from + 1, at: (index) => from + index, has };
}

/** The union of two sets. `low` must end where `high` begins, or before. */
function joined(low: ChunkSet, high: ChunkSet): ChunkSet {
  const shared = low.count > 0 && high.count > 0 && low.at(low.count - 1) === high.at(0) ? 1 : 0;
  return {
    count: low.count + high.count - shared,
    at: (index) => (index < low.count ? low.at(index) : high.at(index - low.count + shared)),
    has: (chunk) => low.has(chunk) || high.has(chunk),
  };
}
