import type { Buffers } from "../util/buffers.ts";
import type { ChunkData } from "./chunk-data.ts";

/** A box of items, of which `start` counts from the chunk's first item. */
export interface ChunkBox {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** A part of a chunk that is decoded without the rest: items that follow one another in its decoded bytes. */
export interface ChunkPart extends ChunkBox {
  /** Where its bytes lie within a stored form of `size` bytes; absent where all of that is needed. */
  readonly range?: { readonly offset: number; readonly length: number; readonly size: number };
  /**
   * Takes ownership of the stored bytes, of `range` or all, which came from `buffers`.
   *
   * @throws `corrupt-chunk`, `codec-error`
   */
  decode(encoded: Uint8Array, buffers: Buffers): Promise<ChunkData>;
}

/** Finds the smallest part that holds a box; undefined where that spares too little. */
export type PartFinder = (box: ChunkBox) => ChunkPart | undefined;
