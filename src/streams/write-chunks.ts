import type { StoreOptions, WritableStore } from "../stores/store.ts";
import { plainBuffers } from "../util/buffers.ts";
import { crc32 } from "../util/crc32.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type ChunkPlace, type EncodedChunk, isSharded } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import type { ReadableStream, WritableStream } from "./web.ts";
import type { WriteChunksOptions } from "./write-options.ts";
import { writeShards } from "./write-shards.ts";

/**
 * Writes chunks under the keys of `place`: the sink of every flow. Takes ownership of each chunk's bytes; a chunk
 * without bytes is left out, or removed. Closing and aborting wait for all writes that were begun. A shard is stored
 * when all its chunks have come.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key.
 */
export function writeChunks(
  place: ChunkPlace<WritableStore>,
  options: WriteChunksOptions = {},
): WritableStream<EncodedChunk> {
  if (isSharded(place)) return writeShards(place, options);
  const { concurrency = 16, signal } = options;
  const { readable, writable } = mapConcurrent(chunkWriter(place, options), { concurrency, signal });
  // Whoever writes learns of failures from the writable side.
  drain(readable).catch(() => {});
  return writable;
}

/** Writes a chunk under a key of its own: what `writeChunks` does with each. */
export type ChunkWriter = (chunk: EncodedChunk, context: StoreOptions) => Promise<void>;

export function chunkWriter(place: ChunkPlace<WritableStore>, options: WriteChunksOptions = {}): ChunkWriter {
  const { buffers = plainBuffers, removeMissing, onWritten, onStored, checksums = true } = options;
  return async (chunk, { signal }) => {
    const { index, coords, region, bytes, release } = chunk;
    const key = place.chunkKey(coords);
    // Who is handed the bytes may keep their buffer.
    const stored = bytes &&
      onStored && { key, size: bytes.length, ...(checksums && { crc32: crc32(bytes) }) };
    try {
      if (bytes) await place.store.set(key, bytes, { signal });
      else if (removeMissing) await place.store.delete(key, { signal });
      onWritten?.({ index, coords, region, key, release, bytes });
      if (stored) onStored?.(stored);
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ path: place.path, coords, key });
      throw error;
    } finally {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
}

async function drain(readable: ReadableStream<void>): Promise<void> {
  const reader = readable.getReader();
  while (!(await reader.read()).done);
}
