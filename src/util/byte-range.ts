/** A range of bytes within a value: from an offset (to the end without `length`), or the last `suffix` bytes. */
export type ByteRange = { readonly offset: number; readonly length?: number } | { readonly suffix: number };

export interface RangeReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** A buffer of `length` bytes. Readers that support this fill and return it; others return a new one. */
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

/** Default for the largest gap between two ranges that are read together, in bytes. */
const MAX_BETWEEN = 64 * 2 ** 10;
/** Default for the longest range that is read at once, in bytes. */
export const MAX_TOGETHER = 2 ** 20;

/** A range of bytes within a value. */
interface Run {
  readonly offset: number;
  readonly length: number;
}

/** A range to read in one request, and the parts that it contains. */
export interface MergedRange<T> extends Run {
  readonly parts: readonly T[];
}

export interface MergeRangesOptions<T> {
  /**
   * Largest gap between two parts, in bytes.
   *
   * @default 65,536
   */
  readonly mostBetween?: number;
  /**
   * Longest merged range, in bytes.
   *
   * @default 1,048,576
   */
  readonly mostTogether?: number;
  /**
   * True if the parts may be merged into a range of `length` bytes.
   *
   * @default always
   */
  readonly fits?: (parts: readonly T[], length: number) => boolean;
}

/** Merges nearby ranges of one value, so that fewer requests read them. The result is in order of offset. */
export function mergeRanges<T extends { readonly range: Run }>(
  parts: readonly T[],
  { mostBetween = MAX_BETWEEN, mostTogether = MAX_TOGETHER, fits = () => true }: MergeRangesOptions<T> = {},
): MergedRange<T>[] {
  const merged: MergedRange<T>[] = [];
  for (const part of parts.toSorted((a, b) => a.range.offset - b.range.offset)) {
    const last = merged.at(-1);
    const { offset, length } = part.range;
    if (last) {
      const together = [...last.parts, part];
      const end = Math.max(last.offset + last.length, offset + length);
      const isNear = offset - (last.offset + last.length) <= mostBetween;
      if (isNear && end - last.offset <= mostTogether && fits(together, end - last.offset)) {
        merged[merged.length - 1] = { offset: last.offset, length: end - last.offset, parts: together };
        continue;
      }
    }
    merged.push({ offset, length, parts: [part] });
  }
  return merged;
}
