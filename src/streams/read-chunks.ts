import type { CodecPipeline } from "../codecs/codec.ts";
import type { StoreOptions } from "../stores/store.ts";
import { plainBuffers } from "../util/bytes.ts";
import { assertKnown } from "../util/options.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { pooledSize } from "./buffer-pool.ts";
import {
  type ChunkRef,
  type ChunkSizes,
  type ChunkStore,
  type EncodedChunk,
  encodedChunk,
  isSharded,
  withChunkContext,
} from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { readNeighbors } from "./read-neighbors.ts";
import { chunkTooLarge, READ_CHUNKS_OPTIONS, type ReadChunksOptions } from "./read-options.ts";
import { readInnerChunks } from "./read-shards.ts";
import { intersect, itemAt, type Selection, selectedRegions } from "./selection.ts";

/**
 * Reads the chunks that `refs` name, in any order: the source of every flow. For shards, it reads each index once and
 * then the chunks by range. Neighboring chunks, in a shard or in a remote zip, are read in one request.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key; `resource-limit` for a stored
 *   chunk above `maxEncodedSize`.
 */
export function readChunks(
  place: ChunkStore,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  options: ReadChunksOptions = {},
): ReadableStream<EncodedChunk> {
  assertKnown(options, READ_CHUNKS_OPTIONS);
  if (isSharded(place)) return readInnerChunks(place, refs, options);
  const { neighbors } = place.store;
  if (neighbors) {
    const readOne = chunkReader(place, { ...options, inFlight: undefined });
    return readNeighbors(place, neighbors, refs, { ...options, readOne });
  }
  const { buffers = plainBuffers, concurrency = 16, signal } = options;
  const discard = ({ bytes, release }: EncodedChunk) => {
    if (bytes) buffers.give(bytes);
    release?.();
  };
  const read = chunkReader(place, options);
  return streamFrom(refs).pipeThrough(mapConcurrent(read, { concurrency, signal, discard }));
}

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

/** Bytes of pooled buffers that reading a chunk takes. */
export function readFootprint(
  { maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">,
  inShard: boolean,
): number {
  // Chunks that are read together are copied out of one larger buffer.
  return (inShard ? 2 : 1) * pooledSize(maxEncodedSize);
}

/** Yields the same chunks, narrowed to the part with the selected items if the codecs can decode parts of a chunk. */
export function* narrowRefs(
  refs: Iterable<ChunkRef>,
  selection: Selection,
  { partOf }: Pick<CodecPipeline, "partOf">,
): Generator<ChunkRef> {
  if (partOf === undefined) {
    yield* refs;
    return;
  }
  for (const ref of refs) {
    const { start } = ref.region;
    const [selected, other] = selectedRegions(selection, ref.region);
    const part = selected && !other && partOf(boxOf(selection, selected, start));
    const region =
      part &&
      intersect(
        { start: start.map((from, d) => from + (part.start[d] ?? 0)), shape: part.shape },
        ref.region,
      );
    yield part && region ? { ...ref, region, part } : ref;
  }
}

/** The smallest box with all selected items of a chunk, relative to its `first` item. */
function boxOf(selection: Selection, selected: ChunkRef["region"], first: readonly number[]) {
  return {
    start: selected.start.map((at, d) => itemAt(selection, d, at) - (first[d] ?? 0)),
    shape: selected.shape.map((count, d) => (selection.step[d] ?? 1) * (count - 1) + 1),
  };
}
