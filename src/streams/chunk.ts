import type { ChunkData } from "../codecs/chunk-data.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import type { Store } from "../stores/store.ts";

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

/** Where an array's chunks lie: what `readChunks` reads and `writeChunks` writes. Every opened array is one. */
export interface ChunkPlace<S extends Store = Store> {
  readonly store: S;
  /** The array's path, for messages. */
  readonly path: string;
  chunkKey(coords: readonly number[]): string;
}

/** How an array's chunks are encoded. Every opened array is one. */
export interface ChunkCoding {
  /** The array's path, for messages. */
  readonly path: string;
  pipeline(): Promise<CodecPipeline>;
}
