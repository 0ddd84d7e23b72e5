import type { StoreOptions } from "../stores/store.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { OptionNames } from "../util/options.ts";
import { pooledSize } from "./buffer-pool.ts";
import type { ByteBudget } from "./byte-budget.ts";
import {
  type ChunkRef,
  type ChunkSizes,
  type ChunkStore,
  type EncodedChunk,
  encodedChunk,
  isSharded,
  withChunkContext,
} from "./chunk.ts";

/** Reads one chunk that has a key of its own, as `readChunks` does. */
export type ChunkReader = (ref: ChunkRef, context: StoreOptions) => Promise<EncodedChunk>;

export function chunkReader(place: ChunkStore, options: ReadChunksOptions = {}): ChunkReader {
  const { buffers = plainBuffers, inFlight, maxEncodedSize, onRead } = options;
  return async (ref, context) => {
    const key = place.chunkKey(ref.coords);
    const lease = await inFlight?.budget.acquire(inFlight.bytesPerChunk, context.signal);
    let taken: Uint8Array | undefined;
    const check = (byteLength: number) => {
      if (maxEncodedSize !== undefined && byteLength > maxEncodedSize)
        throw chunkTooLarge(byteLength, maxEncodedSize);
    };
    // Called again when the store retries.
    const allocate = (byteLength: number) => {
      check(byteLength);
      if (taken) buffers.give(taken);
      taken = buffers.take(byteLength);
      return taken;
    };
    try {
      const bytes = await place.store.get(key, {
        range: ref.part?.range,
        isLeaf: true,
        allocate,
        maxBytes: maxEncodedSize,
        signal: context.signal,
      });
      check(bytes?.length ?? 0);
      if (taken && bytes?.buffer !== taken.buffer) buffers.give(taken);
      const chunk = encodedChunk(ref, bytes, key, lease?.release);
      onRead?.(chunk);
      return chunk;
    } catch (error) {
      if (taken) buffers.give(taken);
      lease?.release();
      throw withChunkContext(error, place, { coords: ref.coords, key });
    }
  };
}

/** As {@link ChunkReader}, with calls that block; returns undefined if the chunk cannot be read like that. */
export type SyncChunkReader = (ref: ChunkRef) => EncodedChunk | undefined;

/** Returns undefined for chunks in shards and for stores without blocking calls. */
export function syncChunkReader(
  place: ChunkStore,
  { buffers = plainBuffers, maxEncodedSize }: Pick<ReadChunksOptions, "buffers" | "maxEncodedSize">,
): SyncChunkReader | undefined {
  const { store } = place;
  if (store.getSync === undefined || isSharded(place)) return undefined;
  return (ref) => {
    const key = place.chunkKey(ref.coords);
    let taken: Uint8Array | undefined;
    const allocate = (byteLength: number) => {
      taken = buffers.take(byteLength);
      return taken;
    };
    const found = store.getSync?.(key, {
      range: ref.part?.range,
      isLeaf: true,
      allocate,
      maxBytes: maxEncodedSize,
    });
    if (found) return encodedChunk(ref, found.bytes, key);
    if (taken) buffers.give(taken);
    return undefined;
  };
}

export interface ReadChunksOptions {
  /** Reads in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /**
   * Bounds the chunks that are read and not yet released. The consumer of a chunk must then call its `release`. Each
   * flow needs its own budget: chunks that a failed flow loses are never released.
   */
  readonly inFlight?: { readonly budget: ByteBudget; readonly bytesPerChunk: number } | undefined;
  /** The most bytes that one encoded chunk may have. */
  readonly maxEncodedSize?: number | undefined;
  readonly buffers?: Buffers | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk after it was read; `bytes` is undefined for a missing chunk. */
  readonly onRead?: ((chunk: EncodedChunk) => void) | undefined;
}

export const READ_CHUNKS_OPTIONS: OptionNames<ReadChunksOptions> = {
  concurrency: true,
  inFlight: true,
  maxEncodedSize: true,
  buffers: true,
  signal: true,
  onRead: true,
};

/** The error for a stored chunk above `maxEncodedSize`. */
export function chunkTooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the stored chunk is larger than its metadata allows", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}

/** Bytes of pooled buffers that reading a chunk takes. */
export function readFootprint(
  { maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">,
  inShard: boolean,
): number {
  // Chunks that are read together are copied out of one larger buffer.
  return (inShard ? 2 : 1) * pooledSize(maxEncodedSize);
}
