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
