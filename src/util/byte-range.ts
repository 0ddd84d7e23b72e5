/** A range of bytes within a value: from an offset (to the end without `length`), or the last `suffix` bytes. */
export type ByteRange = { readonly offset: number; readonly length?: number } | { readonly suffix: number };

export interface RangeReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** A buffer of `length` bytes. Readers that can, fill and return it; others return a new one. */
  readonly into?: Uint8Array | undefined;
}

/** A source of known size that can be read in part: a file, an object, an entry of a zip, a shard. */
export interface RangeReader {
  /** Size in bytes. */
  readonly size: number;
  /** True if each read is a network round trip, so that one long read beats two short ones. */
  readonly remote?: boolean;
  /**
   * Reads exactly `length` bytes from `offset`; the caller owns the result. Throws `short-read` if there are fewer.
   */
  read(offset: number, length: number, options?: RangeReadOptions): Promise<Uint8Array>;
  /**
   * Fills `into` from `offset` synchronously. Returns false if it cannot, for any reason; `read` then reports the
   * reason. Absent in readers that always have to wait.
   */
  readSync?(offset: number, into: Uint8Array): boolean;
  /** Returns a token that changes whenever the bytes change; undefined if changes cannot be detected. */
  version?(): Promise<string | undefined>;
  /** Releases handles, after all reads have settled. */
  close?(): Promise<void>;
}

/** Resolves `range` to absolute bounds in a value of `size` bytes, clipped to its end. */
export function resolveRange(range: ByteRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size };
  if ("suffix" in range) {
    const length = Math.min(range.suffix, size);
    return { offset: size - length, length };
  }
  const offset = Math.min(range.offset, size);
  return { offset, length: Math.min(range.length ?? Number.POSITIVE_INFINITY, size - offset) };
}
