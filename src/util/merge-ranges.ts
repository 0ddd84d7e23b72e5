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

export interface MergeOptions<T> {
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
  { mostBetween = MAX_BETWEEN, mostTogether = MAX_TOGETHER, fits = () => true }: MergeOptions<T> = {},
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
