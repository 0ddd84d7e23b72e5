import { coordsOf } from "../util/shape.ts";
import type { ChunkRef } from "./chunk.ts";
import { type ChunkRun, chunkRegion } from "./selection.ts";

/** A grid of chunks, optionally in shards. */
export interface ReadGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Shape of the shards that contain the chunks; absent without shards. */
  readonly shardShape?: readonly number[] | undefined;
}

/** Yields the chunks that a selection touches along every dimension, in C order; chunks in shards shard by shard. */
export function* chunkRefs(grid: ReadGrid, hit: readonly ChunkRun[]): Generator<ChunkRef> {
  const { shape, chunkShape, shardShape } = grid;
  const perShard = shardShape?.map((n, d) => n / (chunkShape[d] ?? 1));
  let index = 0;
  for (const inShard of perShard ? shardBoxes(hit, perShard) : [hit]) {
    for (const at of coordsOf(inShard.map(({ count }) => count))) {
      const coords = at.map((i, d) => inShard[d]?.at(i) ?? 0);
      yield { index: index++, coords, region: chunkRegion(coords, chunkShape, shape) };
    }
  }
}

/** Yields the parts of a box of chunks that are in one shard each, in C order. Computes them without a list. */
function* shardBoxes(
  [run, ...runs]: readonly ChunkRun[],
  [perShard = 1, ...others]: readonly number[],
): Generator<readonly ChunkRun[]> {
  if (run === undefined) {
    yield [];
    return;
  }
  for (const part of shardRuns(run, perShard)) {
    for (const rest of shardBoxes(runs, others)) yield [part, ...rest];
  }
}

/** Yields the parts of a run that are in one shard each. */
function* shardRuns({ count, at }: ChunkRun, perShard: number): Generator<ChunkRun> {
  for (let first = 0; first < count; ) {
    const start = first;
    const end = (Math.floor(at(start) / perShard) + 1) * perShard;
    first = firstFrom({ count, at }, end, start + 1);
    yield { count: first - start, at: (index) => at(start + index) };
  }
}

/**
 * Returns the index, from `low`, of the first chunk of an ascending run at or after `chunk`; the run's count if
 * there is none.
 */
function firstFrom({ count, at }: ChunkRun, chunk: number, low: number): number {
  let [from, to] = [low, count];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (at(middle) < chunk) from = middle + 1;
    else to = middle;
  }
  return from;
}
