import type { WritableStore } from "../stores/store.ts";
import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { isZarrflowError } from "../util/errors.ts";
import type { ChunkPlace, EncodedChunk } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { WritableStream } from "./web.ts";

export interface WriteChunksOptions {
  /** Writes in flight; 16 by default. */
  readonly concurrency?: number;
  readonly buffers?: Buffers;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk when it is committed, before its bytes are given back; `bytes` are undefined for a chunk left out. */
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
}

/**
 * Writes chunks under the keys of `place`: the sink of every flow. Takes ownership of each chunk's bytes; a chunk
 * without bytes is left out. Closing waits for all writes.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key.
 */
export function writeChunks(
  place: ChunkPlace<WritableStore>,
  options: WriteChunksOptions = {},
): WritableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, onWritten } = options;
  const write = async (chunk: EncodedChunk, { signal }: { signal: AbortSignal }): Promise<void> => {
    const { bytes, coords } = chunk;
    const key = place.chunkKey(coords);
    try {
      if (bytes) await place.store.set(key, bytes, { signal });
      onWritten?.({ ...chunk, key });
    } catch (error) {
      if (isZarrflowError(error)) error.addContext({ path: place.path, coords, key });
      throw error;
    } finally {
      if (bytes) buffers.give(bytes);
      chunk.release?.();
    }
  };
  return sinkOf(mapConcurrent(write, { concurrency, signal: options.signal }));
}

/** The writable side of a transform whose results nobody wants; closing waits until it is drained. */
function sinkOf<I>(transform: TransformStream<I, void>): WritableStream<I> {
  const writer = transform.writable.getWriter();
  const drained = drain(transform.readable);
  // The writer reports failures as they come; this only keeps the runtime from calling them unhandled.
  drained.catch(() => {});
  writer.closed.catch(() => {});
  return new WritableStream<I>({
    write: (item) => writer.write(item),
    async close() {
      await Promise.all([writer.close(), drained]);
    },
    abort: (reason) => writer.abort(reason),
  });
}

async function drain(readable: ReadableStream<void>): Promise<void> {
  const reader = readable.getReader();
  while (!(await reader.read()).done);
}
