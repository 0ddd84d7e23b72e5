import type { ChunkData } from "../codecs/chunk-data.ts";
import { fillData } from "../codecs/filled-data.ts";
import { maxStoredSize } from "../codecs/limits.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { assertKnown } from "../util/options.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { ByteBudget } from "./byte-budget.ts";
import {
  type ChunkCodec,
  type ChunkRef,
  type ChunkSizes,
  type ChunkStore,
  type DecodedChunk,
  type EncodedChunk,
  isSharded,
} from "./chunk.ts";
import { chunkReader, READ_CHUNKS_OPTIONS, type ReadChunksOptions } from "./chunk-reader.ts";
import { chunkRefs, narrowRefs, type ShardedGrid } from "./chunk-refs.ts";
import { chunksInObject, readCoalesced } from "./coalesced-reads.ts";
import { chunkDecoder, decodeFootprint } from "./decode-chunks.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { chunksInShards } from "./read-shards.ts";
import { regridStage } from "./regrid.ts";
import { type Selection, wholeSelection } from "./selection.ts";

/**
 * Reads the chunks that `refs` name, in any order: the source of every flow. For shards, it reads each index once and
 * then the chunks by range. Adjacent chunks, in a shard or in a remote zip, are read in one request.
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
  if (isSharded(place)) return readCoalesced(place, refs, chunksInShards(place, options), options);
  const { adjacentReads } = place.store;
  if (adjacentReads)
    return readCoalesced(place, refs, chunksInObject(place, adjacentReads, options), options);
  const { buffers = plainBuffers, concurrency = 16, signal } = options;
  const discard = ({ bytes, release }: EncodedChunk) => {
    if (bytes) buffers.give(bytes);
    release?.();
  };
  const read = chunkReader(place, options);
  return streamFrom(refs).pipeThrough(mapConcurrent(read, { concurrency, signal, discard }));
}

/** An array whose chunks can be read and decoded. Every opened array is one. */
export type ReadableArray = ChunkStore & ChunkCodec & ShardedGrid;

export interface DecodedChunksOptions {
  /** Reads in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Bytes of the chunks that are not yet released; at least one chunk is read. By default `concurrency` is the limit. */
  readonly maxMemory?: number | undefined;
  /** Memory that several readings share; each takes its chunks from it too. Only with `maxMemory`. */
  readonly sharedMemory?: ByteBudget | undefined;
  /** Bytes of the largest stored chunk, if known; by default as many as zarrflow would write. */
  readonly storedSize?: number | undefined;
  /** Reads whole chunks, even where codecs could decode the selected part alone. */
  readonly whole?: boolean | undefined;
  readonly buffers?: Buffers | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads and decodes the chunks that a selection touches, in any order. The caller owns the data of each chunk and calls
 * its `release`, or passes it to a stage that does.
 *
 * @throws as `readChunks` and `decodeChunks`; `budget-too-small` if a chunk does not fit the shared memory.
 */
export async function* decodedChunks(
  array: ReadableArray,
  selection: Selection = wholeSelection(array.shape),
  options: DecodedChunksOptions = {},
): AsyncGenerator<DecodedChunk> {
  const { concurrency, maxMemory, sharedMemory, storedSize = 0, whole = false, buffers, signal } = options;
  const pipeline = await array.pipeline();
  const limit = maxStoredSize(pipeline);
  const maxEncodedSize = Math.max(pipeline.maxEncodedSize, Math.min(storedSize, limit));
  const bytesPerChunk = memoryPerChunk(array, { ...pipeline, maxEncodedSize }, buffers);
  const budget =
    maxMemory === undefined ? undefined : new ByteBudget(Math.max(maxMemory, bytesPerChunk), sharedMemory);
  const inFlight = budget && { budget, bytesPerChunk };
  const refs = whole
    ? chunkRefs(array, selection)
    : narrowRefs(chunkRefs(array, selection), selection, pipeline);
  const chunks = readChunks(array, refs, { concurrency, inFlight, maxEncodedSize: limit, buffers, signal });
  const decode = chunkDecoder(array, { buffers });
  try {
    for await (const chunk of chunks) yield await decode(chunk);
  } finally {
    budget?.close();
  }
}

/**
 * Bytes that a chunk takes from its request to its release.
 *
 * @param buffers the pool that its buffers come from, if any
 */
export function memoryPerChunk(
  { shards }: Pick<ReadableArray, "shards">,
  sizes: ChunkSizes,
  buffers?: Buffers,
): number {
  if (buffers) return decodeFootprint(sizes);
  const { decodedSize, maxEncodedSize, scratchSize } = sizes;
  // Chunks that are read together from a shard are copied. In a pool, rounding leaves room for small ones.
  return decodedSize + scratchSize + (shards ? 2 : 1) * maxEncodedSize;
}

/**
 * Reads the items of a selection in C order, into a buffer that the caller owns.
 *
 * @throws as `decodedChunks`
 */
export async function readItems(
  array: ReadableArray,
  selection: Selection,
  options: Omit<DecodedChunksOptions, "whole"> = {},
): Promise<ChunkData> {
  const { buffers = plainBuffers } = options;
  const { shape } = selection;
  const chunk = { ...(await array.pipeline()).spec, shape };
  const { push, end } = regridStage({ shape, chunk }, { selection, buffers });
  let data: ChunkData | undefined;
  for await (const piece of decodedChunks(array, selection, options))
    for (const whole of push(piece)) data = whole.data;
  end();
  return data ?? fillData(chunk, buffers);
}
