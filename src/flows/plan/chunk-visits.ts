import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob } from "./plan.ts";

/**
 * One dimension of a selection, in items: a run of `count` results, one each `step` items from `start`, over source chunks.
 * After `cycle` items comes the first one again; absent: the run does not go so far.
 */
export interface Axis {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly sourceChunk: number;
  readonly cycle?: number;
}

/** The dimensions of a selection over chunks of a shape. */
export function axesOver({ start, step, shape, cycle }: Selection, chunkShape: readonly number[]): Axis[] {
  return shape.map((count, d) => ({
    start: start[d] ?? 0,
    step: step[d] ?? 1,
    count,
    sourceChunk: chunkShape[d] ?? 1,
    ...(cycle?.[d] && { cycle: cycle[d] }),
  }));
}

/** The results of an axis before the cycle ends, and those after, which begin anew; undefined where none are after. */
function atSeam({ cycle, ...axis }: Axis): { readonly before: Axis; readonly after: Axis } | undefined {
  const { start, step, count } = axis;
  const seam = cycle === undefined ? count : Math.ceil((cycle - start) / step);
  if (cycle === undefined || seam >= count) return undefined;
  const before = { ...axis, count: seam };
  return { before, after: { ...axis, start: start + step * seam - cycle, count: count - seam } };
}

/** How many chunks of a shape hold any of a selection. */
export function countTouched(selection: Selection, chunkShape: readonly number[]): number {
  return product(axesOver(selection, chunkShape).map((axis) => chunkVisits(axis, Math.max(1, axis.count))));
}

/** How many source chunks of a job hold any of what it takes. */
export function chunksTouched({ selection, source }: Pick<ArrayJob, "selection" | "source">): number {
  return product(selection.shape) === 0 ? 0 : countTouched(selection, source.chunkShape);
}

/** Source chunks along a dimension, ascending; computed, not listed. */
export interface ChunkRun {
  readonly count: number;
  at(index: number): number;
}

/** A run of chunks, and whether a chunk is in it. */
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

/** Two sets of chunks as one, of which the first ends where the second begins, or before. */
function joined(low: ChunkSet, high: ChunkSet): ChunkSet {
  const shared = low.count > 0 && high.count > 0 && low.at(low.count - 1) === high.at(0) ? 1 : 0;
  return {
    count: low.count + high.count - shared,
    at: (index) => (index < low.count ? low.at(index) : high.at(index - low.count + shared)),
    has: (chunk) => low.has(chunk) || high.has(chunk),
  };
}

/**
 * How many source chunks all windows of `window` results together hit along a dimension: chunks that several
 * windows touch count for each.
 */
export function chunkVisits(dimension: Axis, window: number): number {
  const { start, step, count, sourceChunk } = dimension;
  if (count === 0) return 0;
  const seam = atSeam(dimension);
  if (seam) {
    const { before, after } = seam;
    // the window that has both ends reads a chunk that holds both once
    const first = Math.floor(before.count / window) * window;
    const end = Math.min(count, first + window);
    const skipped = end - before.count;
    return (
      chunkVisits({ ...before, count: first }, window) +
      chunksHit(dimension, first, end - first).count +
      chunkVisits({ ...after, start: after.start + step * skipped, count: count - end }, window)
    );
  }
  const windows = Math.ceil(count / window);
  if (step > sourceChunk) return count;
  const from = Math.floor(start / sourceChunk);
  const to = Math.floor((start + step * (count - 1)) / sourceChunk);
  return windows + (to - from) - bordersShared(dimension, window, windows);
}

/**
 * How many windows after the first begin with the first result of a source chunk, so that no chunk is hit twice: those
 * whose beginning, modulo the chunk, is less than a step.
 */
function bordersShared({ start, step, sourceChunk }: Axis, window: number, windows: number): number {
  const stride = step * window;
  const rounded = (first: number) => floorSum({ n: windows - 1, a: stride, b: first, m: sourceChunk });
  return Number(rounded(start + stride) - rounded(start + stride - step));
}

/** The sum of `floor((a * i + b) / m)` over all i from 0 to n - 1, in as many steps as Euclid needs for a and m. */
function floorSum(terms: { readonly n: number; readonly a: number; readonly b: number; readonly m: number }) {
  let [n, a, b, m] = [BigInt(terms.n), BigInt(terms.a), BigInt(terms.b), BigInt(terms.m)];
  let sum = 0n;
  for (;;) {
    sum += ((n * (n - 1n)) / 2n) * (a / m) + n * (b / m);
    const most = (a % m) * n + (b % m);
    if (most < m) return sum;
    [n, a, b, m] = [most / m, m, most % m, a % m];
  }
}
