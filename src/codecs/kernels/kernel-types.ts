import type { WasmHeap } from "./wasm-heap.ts";

/**
 * The hot loops that arrays of all codecs need; codecs have their own in addition. Sources and targets are whole views
 * that must not overlap. A kernel reads and writes only these, and the free room after a buffer of the heap.
 */
export interface Kernels {
  /** Reverses the bytes of every `unit` (2, 4 or 8) bytes, in place; `bytes` must be whole units. */
  swapBytes(bytes: Uint8Array, unit: number): void;
  crc32c(bytes: Uint8Array): number;
  /** Transposes rows of items. */
  readonly transpose: TransposeKernel;
  /** Copies rows between two buffers of the heap; undefined if either buffer is elsewhere. */
  copyRowsOf(source: Uint8Array, target: Uint8Array): CopyRows | undefined;
  /** Copies boxes of items in the heap. */
  readonly heapBoxes: HeapBoxes;
  /** Opens the heap in the memory of the kernels; undefined if there are not enough addresses. */
  openHeap(): OpenHeap | undefined;
}

export interface ShuffleKernels {
  /** Stores byte 0 of all items in `target`, then byte 1, and so on; bytes after the last item stay at the end. */
  shuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
  /** The inverse of `shuffle`. */
  unshuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
}

export interface Lz4Kernels {
  /**
   * Encodes one raw LZ4 block.
   *
   * @returns the bytes written, or 0 if they do not fit.
   */
  lz4Encode(source: Uint8Array, target: Uint8Array, acceleration: number): number;
  /**
   * Decodes one raw LZ4 block.
   *
   * @returns the bytes written, or -1 if it is broken or decodes to more than fits.
   */
  lz4Decode(source: Uint8Array, target: Uint8Array): number;
  /**
   * Fills `target` with the decoded bytes of one raw LZ4 block from `offset` on. Does not check the block beyond them.
   *
   * @returns true if the block contains them.
   */
  lz4DecodePart(source: Uint8Array, target: Uint8Array, offset: number): boolean;
}

export interface DeltaKernels {
  /** Stores the first number of `source`, then each number minus the previous one. No number may be cut off. */
  deltaEncode(source: Uint8Array, target: Uint8Array, format: NumberFormat): void;
  /** The inverse of `deltaEncode`, in place. */
  deltaDecode(bytes: Uint8Array, format: NumberFormat): void;
}

/** Copies `planes` of `rows` runs of `length` bytes; addresses in the memory of the heap, steps in bytes. */
export type CopyRows = (
  source: number,
  target: number,
  length: number,
  rows: number,
  sourceStep: number,
  targetStep: number,
  planes: number,
  sourcePlane: number,
  targetPlane: number,
) => void;

/**
 * A box of array items in a buffer of the heap. It consists of the address of its first item, then for each dimension
 * the start and end of the box in the array, and the bytes between neighbors. May hold several boxes one after
 * another.
 */
export type HeapBox = Float64Array;

export interface HeapBoxes {
  /** True if boxes in this buffer can be copied. */
  holds(bytes: Uint8Array): boolean;
  /** Copies the items that `source` shares with each of `targets`, which are consecutive boxes of the same rank. */
  copyShared(source: HeapBox, targets: HeapBox, itemSize: number): void;
}

/** A heap that is in use. */
export interface OpenHeap {
  readonly heap: WasmHeap;
  /** Frees its memory once all users have closed it and nobody holds a view of it. */
  close(): void;
}

/**
 * Item `(row, column)` of `source`, whose rows have no gaps, becomes item `(column, row)` of `target`. Does nothing for
 * sizes that would not gain.
 *
 * @returns true if it was done.
 */
export type TransposeKernel = (
  source: Uint8Array,
  target: Uint8Array,
  rows: number,
  columns: number,
  itemSize: number,
) => boolean;

/** Little-endian numbers for arithmetic: integers, signed or not, wrap; floats round. */
export type NumberFormat = "i8" | "i16" | "i32" | "i64" | "f32" | "f64";

/** Describes how the items of a blosc block are shuffled, split and encoded, for both directions. */
export interface BlockLayout {
  readonly inner: string;
  readonly mode: "noshuffle" | "shuffle" | "bitshuffle";
  readonly itemSize: number;
  /** Number of streams of equal length that the block is split into. */
  readonly streams: number;
}

/** Encodes and decodes whole blocks of blosc. */
export interface BlockKernels {
  /** The inner codecs that the kernels support. */
  readonly inner: readonly string[];
  /** Bytes of the longest supported block. */
  readonly maxSize: number;
  /**
   * Shuffles and encodes a block.
   *
   * @param effort the acceleration of lz4, the level of zstd.
   * @returns the bytes written, or 0 if they do not fit.
   */
  encode(source: Uint8Array, target: Uint8Array, layout: BlockLayout, effort: number): number;
  /**
   * Fills `target` with the bytes from `offset` on of a block of `size` decoded bytes. Decodes its streams, LZ4 only as
   * far as needed, and reverses the shuffle.
   *
   * @returns true if the streams decoded to exactly the expected bytes.
   */
  decode(source: Uint8Array, target: Uint8Array, layout: BlockLayout, size: number, offset: number): boolean;
}

/** Decodes frames of zstd. */
export interface ZstdKernels {
  /** The most bytes of source and target together. */
  readonly maxSize: number;
  /**
   * Decodes one whole frame.
   *
   * @returns the bytes written, or -1 if it is broken or decodes to more than fits.
   */
  decode(frame: Uint8Array, target: Uint8Array): number;
}

/** Encodes frames of zstd. */
export interface ZstdEncoderKernels {
  /** The most bytes of source and target together. */
  readonly maxSize: number;
  /** The levels that `encode` distinguishes. Higher levels act as the highest; below 0, lower levels are faster. */
  readonly levels: { readonly least: number; readonly most: number };
  /**
   * Encodes all of `source` as one frame.
   *
   * @returns the bytes written, or 0 if they do not fit.
   */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}
