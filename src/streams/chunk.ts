import type { InnerRange } from "../codecs/array-to-bytes/sharding/entries.ts";
import type { ShardFormat } from "../codecs/array-to-bytes/sharding/format.ts";
import type { ChunkData, ChunkPart } from "../codecs/chunk-data.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import type { Store, StoreOptions } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";

/** A box in array coordinates, in items. */
export interface Region {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** Where a chunk belongs. */
export interface ChunkRef {
  /** Place in the order in which its stream was asked for, from 0. */
  readonly index: number;
  readonly coords: readonly number[];
  /** The items that it holds of the array: cut at the array's edge. */
  readonly region: Region;
  /** Given where no more of the chunk is wanted than its `region`, which is this part. */
  readonly part?: ChunkPart;
  /** The key it was read from; absent before it is stored. */
  readonly key?: string;
  /** Gives the chunk's place in flight back; called once, by the stage that ends its life. */
  readonly release?: () => void;
}

/** A chunk as it is stored; `bytes: undefined` is a missing chunk, which reads as the fill value. */
export interface EncodedChunk extends ChunkRef {
  readonly bytes: Uint8Array | undefined;
}

/** A chunk's items; `data: undefined` is a missing chunk. `data.shape` may exceed `region.shape` at edges. */
export interface DecodedChunk extends ChunkRef {
  readonly data: ChunkData | undefined;
}

/** What is stored of a chunk. Property by property, as to leave some out of an object takes as long as a small codec. */
export function encodedChunk(
  ref: ChunkRef,
  bytes: Uint8Array | undefined,
  key = ref.key,
  release = ref.release,
): EncodedChunk {
  const { index, coords, region, part } = ref;
  return { index, coords, region, part, key, release, bytes };
}

/** The items of a chunk. */
export function decodedChunk(
  { index, coords, region, key, release }: ChunkRef,
  data: ChunkData | undefined,
): DecodedChunk {
  return { index, coords, region, key, release, data };
}

/** Where an array's chunks lie: what `readChunks` reads and `writeChunks` writes. Every opened array is one. */
export interface ChunkStore<S extends Store = Store> {
  readonly store: S;
  /** The array's path, for messages. */
  readonly path: string;
  chunkKey(coords: readonly number[]): string;
  /** Where chunks lie within the values of their keys; absent where each key holds one chunk. */
  readonly shards?: ShardGrid | undefined;
}

/** Where a chunk is stored: a whole value, or a part of one. */
export interface ChunkLocation {
  readonly key: string;
  readonly range?: InnerRange;
  /** The version of the value in which it was found, where the store knows one. */
  readonly version?: string | undefined;
}

/** The shards in which an array's chunks lie. */
export interface ShardGrid {
  /** Chunks of a shard along each dimension of the array. */
  readonly chunksPerShard: readonly number[];
  /** Coords of the shard that holds the chunk at `coords`. */
  shardOf(coords: readonly number[]): number[];
  /** How many chunks of the array lie in a shard. */
  chunksIn(shard: readonly number[]): number;
  /** The entry of the chunk at `coords` in the index of its shard. */
  entryOf(coords: readonly number[]): number;
  /** How shards are laid out. @throws `invalid-metadata`, `resource-limit` */
  format(): Promise<ShardFormat>;
  /**
   * Where the chunk at `coords` is stored; undefined for an empty one. That its range lies within the value is known
   * when it has been read.
   *
   * @throws `corrupt-chunk` for a broken index; what the store throws.
   */
  locate(coords: readonly number[], options?: StoreOptions): Promise<ChunkLocation | undefined>;
  /**
   * Forgets where the chunk at `coords` was located, in a version that its value does not have any more.
   *
   * @returns whether it may be located again: not where this reading found that version
   */
  forget(coords: readonly number[], version: string | undefined): boolean;
  /**
   * Notes that the chunk at `coords` was read where it was located: all that is read of its shard must be of that version.
   *
   * @throws `source-changed` where something was read of another one
   */
  confirm(coords: readonly number[], version: string | undefined): void;
}

/** A place whose chunks lie in shards. */
export type ShardedPlace<S extends Store = Store> = ChunkStore<S> & { readonly shards: ShardGrid };

export function isSharded<S extends Store>(place: ChunkStore<S>): place is ShardedPlace<S> {
  return place.shards !== undefined;
}

/** How an array's chunks are encoded. Every opened array is one. */
export interface ChunkCodec {
  /** The array's path, for messages. */
  readonly path: string;
  /** The store that it is in, for messages. */
  readonly store?: Pick<Store, "description"> | undefined;
  /** True if items of missing chunks are computed by its codecs (`decodeMissing`), and may not be the fill value. */
  readonly computesMissing?: boolean;
  pipeline(): Promise<CodecPipeline>;
}

/** What to throw where something failed for a chunk: a `ZarrflowError` names the store, the path, the coords and the key. */
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
