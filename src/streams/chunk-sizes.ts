import { pooledParts } from "./pooled-size.ts";

/** Upper bounds of what a chunk takes, in bytes. */
export interface ChunkSizes {
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** Bytes that codecs hold at one time besides their input and their output. */
  readonly scratchSize: number;
}

/** Bytes of pooled buffers between the codecs of a chain: at most two buffers at one time. */
export function pooledScratch({ scratchSize }: Pick<ChunkSizes, "scratchSize">): number {
  return pooledParts(scratchSize, 2);
}

/** A grid of chunks, possibly in shards, and the size of a chunk. */
export interface ShardSizes extends Pick<ChunkSizes, "maxEncodedSize"> {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Absent without shards. */
  readonly shardShape?: readonly number[];
}

/** Chunks in a shard along each dimension; undefined without shards. */
export function chunksPerShard({
  chunkShape,
  shardShape,
}: Pick<ShardSizes, "chunkShape" | "shardShape">): number[] | undefined {
  return shardShape?.map((n, d) => n / (chunkShape[d] ?? 1));
}
