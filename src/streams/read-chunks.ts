import { type Buffers, plainBuffers } from "../util/buffers.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { ChunkPlace, ChunkRef, EncodedChunk } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { type ReadableStream, streamFrom } from "./web.ts";

export interface ReadChunksOptions {
  /** Reads in flight; 16 by default. */
  readonly concurrency?: number;
  /**
   * Bounds what lies between reads and releases; whoever ends a chunk's life must then call its `release`. One budget
   * a flow: what a flow that failed has lost on the way is not released.
   */
  readonly inFlight?: { readonly budget: ByteBudget; readonly bytesPerChunk: number };
  /** The most bytes that one encoded chunk may have. */
  readonly maxEncodedSize?: number;
  readonly buffers?: Buffers;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk when it is read; `bytes` are undefined for a missing one. */
  readonly onRead?: (chunk: EncodedChunk) => void;
}

/**
 * Reads the chunks that `refs` name, in any order: the source of every flow.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key; `resource-limit` for a
 *   stored chunk above `maxEncodedSize`.
 */
export function readChunks(
  place: ChunkPlace,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  options: ReadChunksOptions = {},
): ReadableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, inFlight, maxEncodedSize, onRead, signal } = options;

  const read = async (ref: ChunkRef, context: { signal: AbortSignal }): Promise<EncodedChunk> => {
    const key = place.chunkKey(ref.coords);
    const lease = await inFlight?.budget.acquire(inFlight.bytesPerChunk, context.signal);
    let taken: Uint8Array | undefined;
    const check = (byteLength: number) => {
      if (maxEncodedSize !== undefined && byteLength > maxEncodedSize)
        throw tooLarge(byteLength, maxEncodedSize);
    };
    // A store that tries again asks again.
    const allocate = (byteLength: number) => {
      check(byteLength);
      if (taken) buffers.give(taken);
      taken = buffers.take(byteLength);
      return taken;
    };
    try {
      const bytes = await place.store.get(key, { allocate, signal: context.signal });
      check(bytes?.length ?? 0);
      if (taken && bytes?.buffer !== taken.buffer) buffers.give(taken);
      const chunk = lease ? { ...ref, key, bytes, release: lease.release } : { ...ref, key, bytes };
      onRead?.(chunk);
      return chunk;
    } catch (error) {
      if (taken) buffers.give(taken);
      lease?.release();
      if (isZarrflowError(error)) error.addContext({ path: place.path, coords: ref.coords, key });
      throw error;
    }
  };
  const discard = ({ bytes, release }: EncodedChunk) => {
    if (bytes) buffers.give(bytes);
    release?.();
  };
  return streamFrom(refs).pipeThrough(mapConcurrent(read, { concurrency, signal, discard }));
}

function tooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the stored chunk is larger than its metadata can account for", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}
