/** Bytes between two ranges that are read together, at most. */
const MAX_BETWEEN = 64 * 2 ** 10;
/** Bytes that are read together, at most. */
export const MAX_TOGETHER = 2 ** 20;

/** A run of bytes within a value. */
interface Run {
  readonly offset: number;
  readonly length: number;
}

/** A range that is read in one request, and what lies in it. */
export interface MergedRange<T> extends Run {
  readonly parts: readonly T[];
}

export interface MergeOptions<T> {
  /** @default 65,536 */
  readonly mostBetween?: number;
  /** @default 1,048,576 */
  readonly mostTogether?: number;
  /**
   * Whether parts may be read together as a range of so many bytes.
   *
   * @default always
   */
  readonly fits?: (parts: readonly T[], length: number) => boolean;
}

/** Merges ranges of one value that lie near one another, so that few requests read them; in their order in the value. */
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
