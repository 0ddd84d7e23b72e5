import type { WasmHeap } from "./wasm-heap.ts";

/**
 * The hot loops that arrays of any codec need; codecs have others beside. Sources and targets are whole views; they must not overlap. Every kernel reads and
 * writes within them alone; behind a buffer of the heap, in the room that it keeps there, too.
 */
export interface Kernels {
  /** Reverses the bytes of every `unit` (2, 4 or 8) bytes, in place; `bytes` hold whole units. */
  swapBytes(bytes: Uint8Array, unit: number): void;
  crc32c(bytes: Uint8Array): number;
  /** Rows of items to columns. */
  readonly transpose: TransposeKernel;
  /** Copies rows between two buffers of the heap; undefined where either lies elsewhere. */
  copyRowsOf(source: Uint8Array, target: Uint8Array): CopyRows | undefined;
  /** Boxes of items in the heap. */
  readonly heapBoxes: HeapBoxes;
  /** Opens the heap in the kernels' memory; undefined where its addresses cannot be had. */
  openHeap(): OpenHeap | undefined;
}

export interface ShuffleKernels {
  /** Byte 0 of all items to the begin of `target`, then byte 1, and so on; bytes past the last item stay at the end. */
  shuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
  /** The inverse of `shuffle`. */
  unshuffle(source: Uint8Array, target: Uint8Array, itemSize: number): void;
}

export interface Lz4Kernels {
  /** Encodes one raw LZ4 block. @returns the bytes written, or 0 where they do not fit. */
  lz4Encode(source: Uint8Array, target: Uint8Array, acceleration: number): number;
  /** Decodes one raw LZ4 block. @returns the bytes written, or -1 where it is broken or gives more than fits. */
  lz4Decode(source: Uint8Array, target: Uint8Array): number;
  /**
   * Fills `target` with the bytes from `offset` on of one raw LZ4 block; what of the block lies behind them is not looked
   * at. @returns whether it has them.
   */
  lz4DecodePart(source: Uint8Array, target: Uint8Array, offset: number): boolean;
}

export interface DeltaKernels {
  /** The first number of `source`, then each less the one before it; both hold whole numbers of the format. */
  deltaEncode(source: Uint8Array, target: Uint8Array, format: NumberFormat): void;
  /** The inverse of `differences`, in place. */
  deltaDecode(bytes: Uint8Array, format: NumberFormat): void;
}

/** Copies `planes` of `rows` runs of `length` bytes; addresses in the heap's memory, steps in bytes. */
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
 * Where items of an array lie in a buffer of the heap: the address of the first of them; then for each dimension their
 * first place in the array, the one behind the last, and the bytes from one place to the next. Several follow one another.
 */
export type HeapBox = Float64Array;

export interface HeapBoxes {
  /** Whether boxes in a buffer can be copied. */
  holds(bytes: Uint8Array): boolean;
  /** Copies the items that `source` shares with each of `targets`, boxes of its rank that follow one another. */
  copyShared(source: HeapBox, targets: HeapBox, itemSize: number): void;
}

/** A heap while somebody uses it. */
export interface OpenHeap {
  readonly heap: WasmHeap;
  /** Lets its memory go, once all have closed it and nobody holds a view of it. */
  close(): void;
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
export type NumberFormat = "i8" | "i16" | "i32" | "i64" | "f32" | "f64";

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
  /**
   * Fills `target` with the bytes from `offset` on of one block that has `size` decoded: decodes its streams, LZ4 no
   * further than that takes, and undoes the shuffle.
   *
   * @returns whether they gave exactly that.
   */
  decode(source: Uint8Array, target: Uint8Array, layout: BlockLayout, size: number, offset: number): boolean;
}

/** Decode frames of zstd. */
export interface ZstdKernels {
  /** The most bytes of source and target together that are taken. */
  readonly maxSize: number;
  /** Decodes one whole frame. @returns the bytes written, or -1 where it is broken or gives more than fits. */
  decode(frame: Uint8Array, target: Uint8Array): number;
}

/** Encode frames of zstd. */
export interface ZstdEncoderKernels {
  /** The most bytes of source and target together that are taken. */
  readonly maxSize: number;
  /** The levels that `encode` distinguishes: those above are as the last, and those below 0 as fast as they say. */
  readonly levels: { readonly least: number; readonly most: number };
  /** Encodes all of `source` as one frame. @returns the bytes written, or 0 where they do not fit. */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}
