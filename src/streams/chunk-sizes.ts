import { pooledParts } from "./pooled-size.ts";

/** What a chunk takes at most, in bytes. */
export interface ChunkSizes {
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** What codecs hold at one time besides what they are given and what they give. */
  readonly scratchSize: number;
}

/** Bytes of pooled buffers between the codecs of a chain: at most two at one time. */
export function pooledScratch({ scratchSize }: Pick<ChunkSizes, "scratchSize">): number {
  return pooledParts(scratchSize, 2);
}

/** A grid of chunks that may lie in shards, and what a chunk takes. */
export interface ShardSizes extends Pick<ChunkSizes, "maxEncodedSize"> {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Absent without shards. */
  readonly shardShape?: readonly number[];
}

/** Chunks of a shard along each dimension; undefined without shards. */
export function chunksPerShard({
  chunkShape,
  shardShape,
}: Pick<ShardSizes, "chunkShape" | "shardShape">): number[] | undefined {
  return shardShape?.map((n, d) => n / (chunkShape[d] ?? 1));
}
