import type { WritableStore } from "../stores/store.ts";
import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import type { ChunkPlace, EncodedChunk } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import type { ReadableStream, WritableStream } from "./web.ts";

export interface WriteChunksOptions {
  /** Writes in flight; 16 by default. */
  readonly concurrency?: number;
  readonly buffers?: Buffers;
  /** Removes the key of a chunk without bytes, for targets where an older one may lie. */
  readonly removeMissing?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk when it is committed, before its bytes are given back; `bytes` are undefined for a chunk left out. */
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
}

/**
 * Writes chunks under the keys of `place`: the sink of every flow. Takes ownership of each chunk's bytes; a chunk
 * without bytes is left out, or removed. Closing and aborting wait for all writes that were begun.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key.
 */
export function writeChunks(
  place: ChunkPlace<WritableStore>,
  options: WriteChunksOptions = {},
): WritableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, removeMissing, onWritten } = options;
  const write = async (chunk: EncodedChunk, { signal }: { signal: AbortSignal }): Promise<void> => {
    const { bytes, coords } = chunk;
    const key = place.chunkKey(coords);
    try {
      if (bytes) await place.store.set(key, bytes, { signal });
      else if (removeMissing) await place.store.delete(key, { signal });
      onWritten?.({ ...chunk, key });
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ path: place.path, coords, key });
      throw error;
    } finally {
      if (bytes) buffers.give(bytes);
      chunk.release?.();
    }
  };
  const { readable, writable } = mapConcurrent(write, { concurrency, signal: options.signal });
  // Whoever writes learns of failures from the writable side.
  drain(readable).catch(() => {});
  return writable;
}

async function drain(readable: ReadableStream<void>): Promise<void> {
  const reader = readable.getReader();
  while (!(await reader.read()).done);
}
