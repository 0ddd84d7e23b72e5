import type { Buffers } from "../util/buffers.ts";

/** Decoded items of one size: item at coords c begins at `itemSize * sum(c[d] * strides[d])`; little-endian. */
export interface FixedData {
  readonly kind: "fixed";
  readonly bytes: Uint8Array;
  /** Bytes an item. */
  readonly itemSize: number;
  readonly shape: readonly number[];
  /** Items to step for one step along each dimension. */
  readonly strides: readonly number[];
}

/**
 * Decoded items of varying size in C order: item i is `bytes[offsets[i] .. offsets[i + 1]]`: UTF-8 of a string,
 * raw bytes, or the JSON text of an object. `offsets` has one entry more than there are items.
 */
export interface VariableData {
  readonly kind: "variable";
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly shape: readonly number[];
}

export type ChunkData = FixedData | VariableData;

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
