import { ZarrflowError } from "../util/errors.ts";
import type { JsonObject } from "../util/json-value.ts";
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

/**
 * Views the array by the smallest chunks that can be located in the stored bytes; returns it unchanged if it has no
 * shards.
 */
export function byInnermost(metadata: ArrayMetadata): ArrayMetadata {
  const sharded = withinShards(metadata);
  return sharded ? byInnermost(sharded.inner) : metadata;
}

/** Stores the innermost chunks directly instead of in shards; their codecs stay. */
export function withoutShards(metadata: ArrayMetadata): ArrayMetadata {
  const { codecs, shape } = metadata;
  const at = codecs.findIndex(({ name }) => name === "sharding_indexed");
  const sharding = codecs[at];
  const chunkShape = innerChunkShape(codecs, shape.length);
  if (sharding === undefined || chunkShape === undefined) return metadata;
  const inner = innerCodecs(sharding.configuration.codecs);
  return withoutShards({
    ...metadata,
    chunkGrid: { chunkShape },
    codecs: [...codecs.slice(0, at), ...inner, ...codecs.slice(at + 1)],
  });
}

/**
 * Replaces each -1 in a shard shape by the whole dimension, rounded up to whole chunks. The array must have no
 * shards.
 */
export function wholeShards(sizes: readonly number[], { chunkGrid, shape }: ArrayMetadata): number[] {
  return sizes.map((size, d) => {
    const chunk = chunkGrid.chunkShape[d] ?? 1;
    return size === -1 ? Math.max(1, Math.ceil((shape[d] ?? 1) / chunk)) * chunk : size;
  });
}

/**
 * Puts the chunks of an array without shards into shards of `shardShape`, with the index at the end.
 *
 * @throws `invalid-option` if shards would not contain whole chunks.
 */
export function withShards(metadata: ArrayMetadata, shardShape: readonly number[]): ArrayMetadata {
  const { chunkShape } = metadata.chunkGrid;
  if (
    shardShape.length !== chunkShape.length ||
    shardShape.some((n, d) => n < 1 || n % (chunkShape[d] ?? 1) !== 0)
  ) {
    throw new ZarrflowError("invalid-option", "the shard shape must be a multiple of the chunk shape", {
      expected: `multiples of ${chunkShape.join(" x ")}`,
      found: shardShape.join(" x "),
    });
  }
  const codecs = metadata.codecs.map(({ name, configuration }) => ({ name, configuration }));
  const configuration: JsonObject = {
    chunk_shape: [...chunkShape],
    codecs,
    index_codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "crc32c", configuration: {} },
    ],
    index_location: "end",
  };
  return {
    ...metadata,
    chunkGrid: { chunkShape: shardShape, innerChunkShape: chunkShape },
    codecs: [{ name: "sharding_indexed", configuration }],
  };
}
