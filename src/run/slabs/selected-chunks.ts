import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ChunkRef } from "../../streams/chunk.ts";
import { chunkRefs } from "../../streams/chunk-refs.ts";
import { axesOver, chunksHit, type Selection } from "../../streams/selection.ts";

/** The source chunks that a selection touches, in C order; inner chunks shard by shard. */
export function chunksOf(array: ZarrArray, selection: Selection): Generator<ChunkRef> {
  const { chunkShape } = array.metadata.chunkGrid;
  const hit = axesOver(selection, chunkShape).map((axis) => chunksHit(axis, 0, axis.count));
  const shardShape = array.shards && chunkShape.map((n, d) => n * (array.shards?.chunksPerShard[d] ?? 1));
  return chunkRefs({ shape: array.shape, chunkShape, shardShape }, hit);
}
