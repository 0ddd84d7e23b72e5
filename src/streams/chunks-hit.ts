import type { Selection } from "./selection.ts";

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
