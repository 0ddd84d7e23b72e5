import type { ArrayMetadata, CodecConfig } from "./array-metadata.ts";
import { dimensionsBehind, innerChunkShape, innerCodecs } from "./v3/sharding.ts";

/** Name of the codec that converts values on reading. It precedes all others, and appears in no document. */
export const CONVERT_VALUES = "convert_values";

/** An array with shards, and its view by inner chunks. */
export interface ShardedArray {
  /**
   * The array by inner chunks: their grid, and as codecs the transposes before the shard followed by its inner
   * codecs.
   */
  readonly inner: ArrayMetadata;
  readonly shardShape: readonly number[];
  /** Chunks of a shard along each dimension. */
  readonly chunksPerShard: readonly number[];
  /** The array's dimension for each dimension of the shard, as the shard's codec sees it. */
  readonly dimensions: readonly number[];
  readonly sharding: CodecConfig;
}

/** Cache of results, because codecs are cached per array object. */
const seen = new WeakMap<ArrayMetadata, ShardedArray>();

/**
 * Views an array by the inner chunks of its shards, one level down. Undefined without shards, or if inner chunks
 * cannot be separated in the stored bytes: codecs follow the shard, or other codecs than transposes precede it.
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
