import type { Buffers } from "../util/bytes.ts";

/** Decoded items of fixed size, little-endian. The item at coords c starts at `itemSize * sum(c[d] * strides[d])`. */
export interface FixedData {
  readonly kind: "fixed";
  readonly bytes: Uint8Array;
  /** Bytes per item. */
  readonly itemSize: number;
  readonly shape: readonly number[];
  /** Distance in items between neighbors along each dimension. */
  readonly strides: readonly number[];
}

/**
 * Decoded items of varying size in C order. Item i is `bytes[offsets[i] .. offsets[i + 1]]`: the UTF-8 of a string, raw
 * bytes, or the JSON text of an object. `offsets` has one more entry than there are items.
 */
export interface VariableData {
  readonly kind: "variable";
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly shape: readonly number[];
}

export type ChunkData = FixedData | VariableData;

/** A box of items; `start` is relative to the first item of the chunk. */
export interface ChunkBox {
  readonly start: readonly number[];
  readonly shape: readonly number[];
}

/** A part of a chunk that can be decoded without the rest: consecutive items of its decoded bytes. */
export interface ChunkPart extends ChunkBox {
  /** Position of its bytes in a stored form of `size` bytes; absent if the whole stored form is needed. */
  readonly range?: { readonly offset: number; readonly length: number; readonly size: number };
  /**
   * Takes ownership of the stored bytes, `range` or all of them, which came from `buffers`.
   *
   * @throws `corrupt-chunk`, `codec-error`
   */
  decode(encoded: Uint8Array, buffers: Buffers): Promise<ChunkData>;
}

/** Finds the smallest part that holds a box; undefined if decoding only that would save too little. */
export type PartFinder = (box: ChunkBox) => ChunkPart | undefined;
