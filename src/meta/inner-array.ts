import type { ArrayMetadata, CodecConfig } from "./array-metadata.ts";
import { dimensionsBehind, innerChunkShape, innerCodecs } from "./v3/sharding.ts";

/** Name of the codec that converts values as they are read, which stands before all others and in no document. */
export const CONVERT_VALUES = "convert_values";

/** An array whose chunks lie in shards, and how. */
export interface ShardedArray {
  /** The array by its inner chunks: their grid, and as codecs the transposes in front of the shard, then theirs. */
  readonly inner: ArrayMetadata;
  readonly shardShape: readonly number[];
  /** Chunks of a shard along each dimension. */
  readonly chunksPerShard: readonly number[];
  /** For each dimension of the shard, as its codec sees it, the dimension of the array that it is. */
  readonly dimensions: readonly number[];
  readonly sharding: CodecConfig;
}

/** Arrays as they were seen so before: each is one object, as codecs are kept for it. */
const seen = new WeakMap<ArrayMetadata, ShardedArray>();

/**
 * Sees an array by the inner chunks of its shards, one level down. Undefined for one without shards, or whose inner
 * chunks cannot be separated in the stored bytes: codecs follow the shard, or more than transposes come before it.
 */
export function withinShards(metadata: ArrayMetadata): ShardedArray | undefined {
  const known = seen.get(metadata);
  if (known) return known;
  const { codecs, shape } = metadata;
  const sharding = codecs.at(-1);
  const before = codecs.slice(0, -1);
  const chunkShape = innerChunkShape(codecs, shape.length);
  if (sharding?.name !== "sharding_indexed" || chunkShape === undefined) return undefined;
  if (before.some(({ name }) => name !== "transpose" && name !== CONVERT_VALUES)) return undefined;
  const own = [...before, ...innerCodecs(sharding.configuration.codecs)];
  const deeper = innerChunkShape(own, shape.length);
  const shardShape = metadata.chunkGrid.chunkShape;
  const chunkGrid = { chunkShape, ...(deeper && { innerChunkShape: deeper }) };
  const sharded: ShardedArray = {
    inner: { ...metadata, chunkGrid, codecs: own },
    shardShape,
    chunksPerShard: shardShape.map((n, d) => n / (chunkShape[d] ?? 1)),
    dimensions: dimensionsBehind(shape.length, before),
    sharding,
  };
  seen.set(metadata, sharded);
  return sharded;
}

/** The array by the smallest chunks that can be found in the stored bytes: the array itself where it has no shards. */
export function byInnermost(metadata: ArrayMetadata): ArrayMetadata {
  const sharded = withinShards(metadata);
  return sharded ? byInnermost(sharded.inner) : metadata;
}
