import type { ChunkRef } from "../../streams/chunk.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { coordsOf } from "../../util/shape.ts";
import type { ChunkRun } from "./chunk-visits.ts";

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
  const runs = hit.map((run, d) => {
    const perShard = shardShape && (shardShape[d] ?? 1) / (chunkShape[d] ?? 1);
    return perShard ? shardRuns(run, perShard) : [run];
  });
  let index = 0;
  for (const shard of coordsOf(runs.map(({ length }) => length))) {
    const inShard = shard.map((i, d) => runs[d]?.[i] ?? { count: 0, at: () => 0 });
    for (const at of coordsOf(inShard.map(({ count }) => count))) {
      const coords = at.map((i, d) => inShard[d]?.at(i) ?? 0);
      yield { index: index++, coords, region: chunkRegion(coords, chunkShape, shape) };
    }
  }
}

/** The parts of a run that lie in one shard each. */
function shardRuns({ count, at }: ChunkRun, perShard: number): ChunkRun[] {
  const runs: ChunkRun[] = [];
  for (let first = 0; first < count; ) {
    const shard = Math.floor(at(first) / perShard);
    const start = first;
    while (first < count && Math.floor(at(first) / perShard) === shard) first++;
    runs.push({ count: first - start, at: (index) => at(start + index) });
  }
  return runs;
}
