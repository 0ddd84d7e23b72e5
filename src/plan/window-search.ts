import type { Axis } from "../streams/selection.ts";
import { product } from "../util/shape.ts";
import { chunkVisits } from "./windows.ts";

/** A window's shape in target chunks, and the number of source chunks that all windows together read. */
export interface Window {
  readonly shape: readonly number[];
  readonly visits: number;
}

export interface WindowSearch {
  readonly dimensions: readonly Axis[];
  /** Target chunk shape, in items. */
  readonly chunkShape: readonly number[];
  /** Target grid shape, in chunks. */
  readonly grid: readonly number[];
  /** Window sizes to try along each dimension, ascending; by default those of `windowSizes`. */
  readonly sizes?: readonly (readonly number[])[];
  /** Maximum number of chunks in a window. */
  readonly maxChunks: number;
  /** Smaller windows are enlarged up to this number of chunks if that costs no visits. */
  readonly wantedChunks: number;
}

/** Cost of starting a task that is smaller than wanted, in chunk visits. */
const VISITS_PER_TASK = 0.25;
const MAX_SIZES_PER_DIMENSION = 48;
const MAX_FRONTIER = 512;

/**
 * Finds the window of whole target chunks, within `maxChunks`, that needs the fewest repeated reads. Visits and
 * window sizes are products over the dimensions. So dimensions are processed one by one, keeping only windows that
 * no smaller one beats.
 */
export function searchWindow(search: WindowSearch): Window {
  const { dimensions, chunkShape, grid, sizes, maxChunks, wantedChunks } = search;
  let frontier: Window[] = [{ shape: [], visits: 1 }];
  dimensions.forEach((dimension, d) => {
    const worthTrying = sizes?.[d] ?? windowSizes(grid[d] ?? 1, chunkShape[d] ?? 1, dimension.sourceChunk);
    const options = worthTrying.map((size) => ({
      size,
      visits: chunkVisits(dimension, size * (chunkShape[d] ?? 1)),
    }));
    const grown = frontier.flatMap((window) =>
      options
        .filter(({ size }) => product(window.shape) * size <= maxChunks)
        .map(({ size, visits }) => ({ shape: [...window.shape, size], visits: window.visits * visits })),
    );
    frontier = pareto(grown);
  });
  const tasks = ({ shape }: Window) => product(grid.map((n, d) => Math.ceil(n / (shape[d] ?? 1))));
  const cost = (w: Window) => {
    const lacking = Math.max(0, wantedChunks / product(w.shape) - 1);
    return w.visits + VISITS_PER_TASK * tasks(w) * Math.min(1, lacking);
  };
  return frontier.reduce((best, window) => (cost(window) < cost(best) ? window : best));
}

/**
 * Sizes to try along a dimension of `n` chunks: all if there are few; otherwise sizes that divide it evenly, that
 * end at borders of source chunks, and powers of two.
 */
export function windowSizes(n: number, chunk: number, sourceChunk: number): number[] {
  if (n <= MAX_SIZES_PER_DIMENSION) return Array.from({ length: Math.max(1, n) }, (_, i) => i + 1);
  const sizes = new Set<number>();
  for (let windows = 1; windows <= MAX_SIZES_PER_DIMENSION; windows++) sizes.add(Math.ceil(n / windows));
  const aligned = sourceChunk / gcd(sourceChunk, chunk);
  for (let size = aligned; size < n; size *= 2) sizes.add(size);
  for (let size = 1; size < n; size *= 2) sizes.add(size);
  return [...sizes].sort((a, b) => a - b);
}

/** Windows that no other one beats in both size and visits, by ascending size. */
function pareto(windows: Window[]): Window[] {
  const bySize = windows
    .map((window) => ({ window, size: product(window.shape) }))
    .sort((a, b) => a.size - b.size || a.window.visits - b.window.visits);
  const kept: Window[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  let lastSize = 0;
  for (const { window, size } of bySize) {
    if (window.visits >= fewest && size === lastSize) continue;
    if (window.visits > fewest) continue;
    kept.push(window);
    fewest = window.visits;
    lastSize = size;
  }
  if (kept.length <= MAX_FRONTIER) return kept;
  const every = kept.length / MAX_FRONTIER;
  return kept.filter(
    (_, i) => i === kept.length - 1 || Math.floor(i / every) !== Math.floor((i - 1) / every),
  );
}

/** Greatest common divisor of two whole numbers. */
function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}
