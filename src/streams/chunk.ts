import type { ChunkData, ChunkPart } from "../codecs/chunk-data.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import type { InnerRange } from "../codecs/sharding/entries.ts";
import type { ShardFormat } from "../codecs/sharding/index-format.ts";
import type { Store, StoreOptions } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import { pooledParts } from "./buffer-pool.ts";

/** A box of an array, in items. */
export interface Region {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** Identifies a chunk and its place in the array. */
export interface ChunkRef {
  /** Position in the order of the requested chunks, from 0. */
  readonly index: number;
  readonly coords: readonly number[];
  /** The part of the array that the chunk covers, cut at the array's edge. */
  readonly region: Region;
  /** Present if only a part of the chunk is read; `region` is then the region of this part. */
  readonly part?: ChunkPart;
  /** The key that the chunk was read from; absent before the chunk is stored. */
  readonly key?: string;
  /** Releases the chunk's lease in flight. The last stage that handles the chunk calls it, once. */
  readonly release?: () => void;
}

/** A chunk as it is stored. `bytes: undefined` is a missing chunk, which reads as the fill value. */
export interface EncodedChunk extends ChunkRef {
  readonly bytes: Uint8Array | undefined;
}

/** The items of a chunk. `data: undefined` is a missing chunk. `data.shape` may exceed `region.shape` at edges. */
export interface DecodedChunk extends ChunkRef {
  readonly data: ChunkData | undefined;
}

/** Creates an encoded chunk. Lists the properties one by one, because object rest takes as long as a small codec. */
export function encodedChunk(
  ref: ChunkRef,
  bytes: Uint8Array | undefined,
  key = ref.key,
  release = ref.release,
): EncodedChunk {
  const { index, coords, region, part } = ref;
  return { index, coords, region, part, key, release, bytes };
}

/** Creates a decoded chunk. */
export function decodedChunk(
  { index, coords, region, key, release }: ChunkRef,
  data: ChunkData | undefined,
): DecodedChunk {
  return { index, coords, region, key, release, data };
}

/** An array's chunks in a store: `readChunks` reads from it, `writeChunks` writes to it. Every opened array is one. */
export interface ChunkStore<S extends Store = Store> {
  readonly store: S;
  /** The array's path, for messages. */
  readonly path: string;
  chunkKey(coords: readonly number[]): string;
  /** The positions of chunks within the values of their keys; absent if each key holds one chunk. */
  readonly shards?: ShardGrid | undefined;
}

/** The location of a stored chunk: a whole value or a part of one. */
export interface ChunkLocation {
  readonly key: string;
  readonly range?: InnerRange;
  /** The version of the value in which the chunk was found, if the store has versions. */
  readonly version?: string | undefined;
}

/** The shards of an array. */
export interface ShardGrid {
  /** Chunks in a shard along each dimension of the array. */
  readonly chunksPerShard: readonly number[];
  /** Coords of the shard that holds the chunk at `coords`. */
  shardOf(coords: readonly number[]): number[];
  /** Number of the array's chunks in a shard. */
  chunksIn(shard: readonly number[]): number;
  /** Position of the chunk at `coords` in the index of its shard. */
  entryOf(coords: readonly number[]): number;
  /**
   * The layout of the shards.
   *
   * @throws `invalid-metadata`, `resource-limit`
   */
  format(): Promise<ShardFormat>;
  /**
   * Looks up the location of the chunk at `coords`; undefined for an empty chunk. Only the read itself shows that the
   * range is within the value.
   *
   * @throws `corrupt-chunk` for a broken index; what the store throws.
   */
  locate(coords: readonly number[], options?: StoreOptions): Promise<ChunkLocation | undefined>;
  /**
   * Forgets the location of the chunk at `coords`, found in a version that its value no longer has.
   *
   * @returns true if it may be located again; false if this reading itself found that version
   */
  forget(coords: readonly number[], version: string | undefined): boolean;
  /**
   * Records that the chunk at `coords` was read where it was located. Everything that is read of its shard must be of
   * that version.
   *
   * @throws `source-changed` if something was read of another version
   */
  confirm(coords: readonly number[], version: string | undefined): void;
}

/** A chunk store with shards. */
export type ShardedPlace<S extends Store = Store> = ChunkStore<S> & { readonly shards: ShardGrid };

export function isSharded<S extends Store>(place: ChunkStore<S>): place is ShardedPlace<S> {
  return place.shards !== undefined;
}

/** The codecs of an array's chunks. Every opened array is one. */
export interface ChunkCodec {
  /** The array's path, for messages. */
  readonly path: string;
  /** The array's store, for messages. */
  readonly store?: Pick<Store, "description"> | undefined;
  /**
   * True if codecs compute the items of missing chunks (`decodeMissing`), which may then differ from the fill value.
   */
  readonly computesMissing?: boolean;
  pipeline(): Promise<CodecPipeline>;
}

/**
 * The error to throw after a failure in a chunk. Adds the store, the path, the coords and the key to a `ZarrflowError`.
 */
export function withChunkContext(
  error: unknown,
  { store, path }: Pick<ChunkCodec, "store" | "path">,
  { coords, key }: { readonly coords: readonly number[]; readonly key?: string | undefined },
): unknown {
  if (!isZarrflowError(error)) return error;
  return error.addContext({
    path,
    coords,
    ...(key !== undefined && { key }),
    ...(store && { store: store.description }),
  });
}

/** Calls `run` and adds the chunk to its errors. */
export async function inChunk<T>(
  place: ChunkStore,
  { coords }: Pick<ChunkRef, "coords">,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw withChunkContext(error, place, { coords, key: place.chunkKey(coords) });
  }
}

/** Upper bounds of what a chunk takes, in bytes. */
export interface ChunkSizes {
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** Bytes that codecs hold at one time besides their input and their output. */
  readonly scratchSize: number;
}

/** Bytes of pooled buffers between the codecs of a chain: at most two buffers at one time. */
export function pooledScratch({ scratchSize }: Pick<ChunkSizes, "scratchSize">): number {
  return pooledParts(scratchSize, 2);
}

/** A grid of chunks, possibly in shards, and the size of a chunk. */
export interface ShardSizes extends Pick<ChunkSizes, "maxEncodedSize"> {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Absent without shards. */
  readonly shardShape?: readonly number[];
}

/** Chunks in a shard along each dimension; undefined without shards. */
export function chunksPerShard({
  chunkShape,
  shardShape,
}: Pick<ShardSizes, "chunkShape" | "shardShape">): number[] | undefined {
  return shardShape?.map((n, d) => n / (chunkShape[d] ?? 1));
}
