/** A run of bytes within a value: from an offset (to the end where `length` is absent), or the last `suffix` bytes. */
export type ByteRange = { readonly offset: number; readonly length?: number } | { readonly suffix: number };

export interface RangeReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** A buffer of `length` bytes that readers which can fill and return; others return a new one. */
  readonly into?: Uint8Array | undefined;
}

/** Something of known size that can be read in part: a file, an object, an entry of a zip, a shard. */
export interface RangeReader {
  /** Size in bytes. */
  readonly size: number;
  /** Whether each read is a round trip over a network, so that one long read beats two short ones. */
  readonly remote?: boolean;
  /** Reads exactly `length` bytes from `offset`, which are the caller's; fewer is a `short-read`. */
  read(offset: number, length: number, options?: RangeReadOptions): Promise<Uint8Array>;
  /**
   * Fills `into` from `offset` before it returns; false where that cannot be done, for whatever reason: `read` then says
   * it. Absent in readers that always have to wait.
   */
  readSync?(offset: number, into: Uint8Array): boolean;
  /** What distinguishes its bytes now from those that it had, or will have; undefined where nobody can tell. */
  version?(): Promise<string | undefined>;
  /** Releases handles, once all reads have settled. */
  close?(): Promise<void>;
}

/** The absolute bounds of `range` in a value of `size` bytes, cut at its end. */
export function resolveRange(range: ByteRange | undefined, size: number): { offset: number; length: number } {
  if (range === undefined) return { offset: 0, length: size };
  if ("suffix" in range) {
    const length = Math.min(range.suffix, size);
    return { offset: size - length, length };
  }
  const offset = Math.min(range.offset, size);
  return { offset, length: Math.min(range.length ?? Number.POSITIVE_INFINITY, size - offset) };
}
