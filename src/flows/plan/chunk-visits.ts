import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";

/** One dimension of a selection, in items: a run of `count` results, one each `step` items from `start`, over source chunks. */
export interface Axis {
  readonly start: number;
  readonly step: number;
  readonly count: number;
  readonly sourceChunk: number;
}

/** The dimensions of a selection over chunks of a shape. */
export function axesOver({ start, step, shape }: Selection, chunkShape: readonly number[]): Axis[] {
  return shape.map((count, d) => ({
    start: start[d] ?? 0,
    step: step[d] ?? 1,
    count,
    sourceChunk: chunkShape[d] ?? 1,
  }));
}

/** How many chunks of a shape hold any of a selection. */
export function countTouched(selection: Selection, chunkShape: readonly number[]): number {
  return product(axesOver(selection, chunkShape).map((axis) => chunkVisits(axis, Math.max(1, axis.count))));
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
export function chunksHit({ start, step, sourceChunk }: Axis, first: number, count: number): ChunkSet {
  const chunkOf = (result: number) => Math.floor((start + step * result) / sourceChunk);
  const has = (chunk: number) => {
    const result = Math.max(first, Math.ceil((chunk * sourceChunk - start) / step));
    return result < first + count && chunkOf(result) === chunk;
  };
  if (step > sourceChunk) return { count, at: (index) => chunkOf(first + index), has };
  const from = chunkOf(first);
  return { count: count === 0 ? 0 : chunkOf(first + count - 1) - from + 1, at: (index) => from + index, has };
}

/**
 * How many source chunks all windows of `window` results together hit along a dimension: chunks that several
 * windows touch count for each.
 */
export function chunkVisits(dimension: Axis, window: number): number {
  const { start, step, count, sourceChunk } = dimension;
  if (count === 0) return 0;
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
