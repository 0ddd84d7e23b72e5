import type { StoreOptions, WritableStore } from "../stores/store.ts";
import { plainBuffers } from "../util/buffers.ts";
import { assertKnown } from "../util/check-options.ts";
import { crc32 } from "../util/crc32.ts";
import { type ChunkStore, type EncodedChunk, isSharded, withChunkContext } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { type ReadableStream, WritableStream } from "./web.ts";
import { type ChunkSink, WRITE_CHUNKS_OPTIONS, type WriteChunksOptions } from "./write-options.ts";
import { shardSink } from "./write-shards.ts";

/**
 * Writes chunks under the keys of `place`: the sink of every flow. Takes ownership of each chunk's bytes; a chunk
 * without bytes is left out or removed. Closing and aborting wait for all writes that have started. A shard is stored
 * when all of its chunks have come.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key.
 */
export function writeChunks(
  place: ChunkStore<WritableStore>,
  options: WriteChunksOptions = {},
): WritableStream<EncodedChunk> {
  assertKnown(options, WRITE_CHUNKS_OPTIONS);
  const { concurrency = 16, signal } = options;
  const sink = chunkSink(place, options);
  if (isSharded(place)) {
    const write = (chunk: EncodedChunk) => sink.write(chunk, { signal });
    return new WritableStream<EncodedChunk>({ ...sink, write });
  }
  const { readable, writable } = mapConcurrent(sink.write, { concurrency, signal });
  // The writable side reports failures.
  drain(readable).catch(() => {});
  return writable;
}

/** Writes chunks one by one, each under its own key or into its shard. */
export function chunkSink(place: ChunkStore<WritableStore>, options: WriteChunksOptions = {}): ChunkSink {
  if (isSharded(place)) return shardSink(place, options);
  const { buffers = plainBuffers, removeMissing, onWritten, onStored, checksums = true } = options;
  const write = async (chunk: EncodedChunk, { signal }: StoreOptions) => {
    const { index, coords, region, bytes, release } = chunk;
    const key = place.chunkKey(coords);
    // Compute the checksum first: the store may keep or transfer the buffer.
    const stored = bytes &&
      onStored && { key, size: bytes.length, ...(checksums && { crc32: crc32(bytes) }) };
    try {
      if (bytes) await place.store.set(key, bytes, { signal });
      else if (removeMissing) await place.store.delete(key, { signal });
      onWritten?.({ index, coords, region, key, release, bytes });
      if (stored) onStored?.(stored);
    } catch (error) {
      throw withChunkContext(error, place, { coords, key });
    } finally {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
  return { write, close: async () => {}, abort: async () => {} };
}

async function drain(readable: ReadableStream<void>): Promise<void> {
  const reader = readable.getReader();
  while (!(await reader.read()).done);
}
