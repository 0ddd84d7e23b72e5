/**
 * The hot loops of the codecs. Sources and targets are whole views; they must not overlap. Every kernel reads and
 * writes within them alone.
 */
export interface Kernels {
  readonly kind: "wasm" | "plain";
  /** Byte 0 of all items to the begin of `target`, then byte 1, and so on; bytes past the last item stay at the end. */
  shuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
  /** The inverse of `shuffle`. */
  unshuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
  /** Encodes one raw LZ4 block. @returns the bytes written, or 0 where they do not fit. */
  lz4Encode(source: Uint8Array, target: Uint8Array, acceleration: number): number;
  /** Decodes one raw LZ4 block. @returns the bytes written, or -1 where it is broken or gives more than fits. */
  lz4Decode(source: Uint8Array, target: Uint8Array): number;
  /** Reverses the bytes of every `unit` (2, 4 or 8) bytes, in place; `bytes` hold whole units. */
  swapBytes(bytes: Uint8Array, unit: number): void;
  /** The first number of `source`, then each less the one before it; both hold whole numbers of the lane. */
  differences(source: Uint8Array, target: Uint8Array, lane: Lane): void;
  /** The inverse of `differences`, in place. */
  sums(bytes: Uint8Array, lane: Lane): void;
  crc32c(bytes: Uint8Array): number;
  /** Rows of items to columns, where there is a kernel for it. */
  readonly transpose: TransposeKernel | undefined;
  /** Blocks of blosc, where there are kernels that do a block in one call. */
  readonly blocks: BlockKernels | undefined;
  /** zstd, where there are kernels for it. */
  readonly zstd: ZstdKernels | undefined;
}

/**
 * Item `(row, column)` of `source`, rows without gaps, becomes item `(column, row)` of `target`. Sizes that gain nothing
 * are left alone.
 *
 * @returns whether it was done.
 */
export type TransposeKernel = (
  source: Uint8Array,
  target: Uint8Array,
  rows: number,
  columns: number,
  itemSize: number,
) => boolean;

/** Little-endian numbers that are computed with: integers, whatever their sign, wrap; floats round. */
export type Lane = "i8" | "i16" | "i32" | "i64" | "f32" | "f64";

/** How the items of a blosc block are shuffled, split and encoded; shared by both directions. */
export interface BlockLayout {
  readonly inner: string;
  readonly mode: "noshuffle" | "shuffle" | "bitshuffle";
  readonly itemSize: number;
  /** Streams of equal length that the block is split into. */
  readonly streams: number;
}

/** Whole blocks of blosc. */
export interface BlockKernels {
  /** The inner codecs that there are kernels for. */
  readonly inner: readonly string[];
  /** The longest block that is taken. */
  readonly maxSize: number;
  /**
   * Shuffles and encodes.
   *
   * @param effort of lz4 the acceleration, of zstd the level.
   * @returns the bytes written, or 0 where they do not fit.
   */
  encode(source: Uint8Array, target: Uint8Array, layout: BlockLayout, effort: number): number;
  /** Decodes the streams of one block and undoes the shuffle. @returns whether they gave exactly `target`. */
  decode(source: Uint8Array, target: Uint8Array, layout: BlockLayout): boolean;
}

/** Frames of zstd. */
export interface ZstdKernels {
  /** The most bytes of source and target together that are taken. */
  readonly maxSize: number;
  /** Decodes one whole frame. @returns the bytes written, or -1 where it is broken or gives more than fits. */
  decode(frame: Uint8Array, target: Uint8Array): number;
  /** The levels that `encode` tells apart: those above are as the last, and those below 0 as fast as they say. */
  readonly levels: { readonly least: number; readonly most: number };
  /** Encodes all of `source` as one frame. @returns the bytes written, or 0 where they do not fit. */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}
