import type { ChunkRef } from "../../streams/chunk.ts";
import type { ChunkRun } from "../../streams/chunks-hit.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { coordsOf } from "../../util/shape.ts";

/** A grid of chunks, which may lie in shards. */
export interface ReadGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Shape of the shards that hold the chunks; absent without shards. */
  readonly shardShape?: readonly number[] | undefined;
}

/** The chunks that are hit along every dimension, in C order; where they lie in shards, shard by shard. */
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

/** The parts of a box of chunks that lie in one shard each, in C order; computed, not listed. */
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

/** The parts of a run that lie in one shard each. */
function* shardRuns({ count, at }: ChunkRun, perShard: number): Generator<ChunkRun> {
  for (let first = 0; first < count; ) {
    const start = first;
    const end = (Math.floor(at(start) / perShard) + 1) * perShard;
    first = firstFrom({ count, at }, end, start + 1);
    yield { count: first - start, at: (index) => at(start + index) };
  }
}

/** The index, from `low`, of the first chunk of an ascending run that is not before `chunk`; its count if there is none. */
function firstFrom({ count, at }: ChunkRun, chunk: number, low: number): number {
  let [from, to] = [low, count];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (at(middle) < chunk) from = middle + 1;
    else to = middle;
  }
  return from;
}
