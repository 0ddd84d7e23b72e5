import { ZarrflowError } from "../util/errors.ts";
import type { JsonObject } from "../util/json-value.ts";
import type { ArrayMetadata } from "./array-metadata.ts";
import { withinShards } from "./shards.ts";
import { innerChunkShape, innerCodecs } from "./v3/sharding.ts";

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
