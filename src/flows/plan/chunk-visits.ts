import { type Axis, atSeam, axesOver, chunksHit } from "../../streams/chunks-hit.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob } from "./plan.ts";

/** Counts the source chunks of a job that contain any selected item. */
export function chunksTouched({ selection, source }: Pick<ArrayJob, "selection" | "source">): number {
  return product(selection.shape) === 0 ? 0 : countTouched(selection, source.chunkShape);
}

/**
 * Counts the source chunks that all windows of `window` results touch along a dimension. A chunk counts once for
 * each window that touches it.
 */
export function chunkVisits(dimension: Axis, window: number): number {
  const { start, step, count, sourceChunk } = dimension;
  if (count === 0) return 0;
  const seam = atSeam(dimension);
  if (seam) {
    const { before, after } = seam;
    // the window across the seam reads a chunk that contains both ends only once
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
 * Counts the windows after the first that begin with the first result of a source chunk, so that they share no
 * chunk with the window before. The beginning of such a window, modulo the chunk size, is less than a step.
 */
function bordersShared({ start, step, sourceChunk }: Axis, window: number, windows: number): number {
  const stride = step * window;
  const rounded = (first: number) => floorSum({ n: windows - 1, a: stride, b: first, m: sourceChunk });
  return Number(rounded(start + stride) - rounded(start + stride - step));
}

/**
 * Sums `floor((a * i + b) / m)` over all i from 0 to n - 1, with as many iterations as Euclid's algorithm needs for
 * a and m.
 */
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

/** Counts the chunks of a shape that contain any item of a selection. */
export function countTouched(selection: Selection, chunkShape: readonly number[]): number {
  return product(axesOver(selection, chunkShape).map((axis) => chunkVisits(axis, Math.max(1, axis.count))));
}
