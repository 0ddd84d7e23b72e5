import type { CodecPipeline } from "../../codecs/codec.ts";
import { maxStoredSize } from "../../codecs/limits.ts";
import { chunksOf } from "../../run/slabs/selected-chunks.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { decodeChunks, decodeFootprint } from "../../streams/decode-chunks.ts";
import { readChunks } from "../../streams/read-chunks.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { faultFinding, type ValidateFinding } from "./finding.ts";
import { StoredZeros } from "./missing-values.ts";
import type { StoredChunk } from "./stored-keys.ts";

/** Chunks of a shard that are decoded concurrently. */
const AHEAD = 4;

/**
 * Returns a check that reads and decodes a chunk within a memory budget; of a shard, a few inner chunks at a time. It
 * reports chunks that cannot be decoded, and zeros that readers would treat as missing.
 */
export function decodeCheck(
  maxMemory: number,
): (chunk: StoredChunk, context: { signal: AbortSignal }) => Promise<ValidateFinding | undefined> {
  const budget = new ByteBudget(maxMemory);
  const buffers = new BufferPool(maxMemory);

  const zeros = new StoredZeros();

  const decode = async (chunk: StoredChunk, signal: AbortSignal): Promise<ValidateFinding | undefined> => {
    const array = chunk.array.innerChunks();
    const pipeline = await array.pipeline();
    const maxEncodedSize = maxStoredSize(pipeline);
    const encodedSize = array.shards ? 0 : Math.min(chunk.size, maxEncodedSize);
    const bytesPerChunk = memoryOf(pipeline, encodedSize);
    const ahead = array.shards ? AHEAD : 1;
    const lease = await budget.acquire(
      Math.min(ahead * bytesPerChunk, Math.max(maxMemory, bytesPerChunk)),
      signal,
    );
    const inFlight = { budget: new ByteBudget(lease.bytes), bytesPerChunk };
    const { start, shape } = chunkRegion(chunk.coords, chunk.array.chunkShape, chunk.array.shape);
    const refs = chunksOf(array, { start, step: start.map(() => 1), shape });
    let found: ValidateFinding | undefined;
    try {
      const options = { concurrency: ahead, inFlight, maxEncodedSize, buffers, signal };
      const decoded = readChunks(array, refs, options).pipeThrough(decodeChunks(array, { buffers }));
      for await (const inner of decoded) {
        found ??= zeros.look(chunk.array, chunk.key, inner);
        if (inner.data) buffers.give(inner.data.bytes);
        inner.release?.();
      }
      if (array.shards) await chunk.array.store.checks?.check(chunk.key, { signal });
      return found;
    } finally {
      lease.release();
    }
  };
  return async (chunk, { signal }) => {
    try {
      return await decode(chunk, signal);
    } catch (error) {
      if (isZarrflowError(error, "unsupported-codec")) return undefined;
      return { ...faultFinding(error, "broken-chunk", chunk.array.path), key: chunk.key };
    }
  };
}

/** Bytes that decoding one chunk of this stored size takes. */
function memoryOf({ decodedSize, scratchSize, maxEncodedSize }: CodecPipeline, size: number): number {
  return decodeFootprint({ decodedSize, scratchSize, maxEncodedSize: Math.max(size, maxEncodedSize) });
}
