import type { InnerRange } from "../codecs/array-to-bytes/sharding-entries.ts";

/** What is put between two ranges that are read together, at most, in bytes. */
const MOST_BETWEEN = 64 * 2 ** 10;
/** The most bytes that are read together. */
export const MOST_TOGETHER = 2 ** 20;

/** Ranges that are read in one request. */
export interface MergedRange<T> extends InnerRange {
  readonly parts: readonly T[];
}

/**
 * Merges ranges of one value that lie near one another, so that few requests read them: not further apart than 64 KiB,
 * together no more than 1 MiB.
 *
 * @param fits whether parts may be read together as a range of so many bytes.
 */
export function mergeRanges<T extends { readonly range: InnerRange }>(
  parts: readonly T[],
  fits: (parts: readonly T[], length: number) => boolean,
): MergedRange<T>[] {
  const merged: MergedRange<T>[] = [];
  for (const part of parts.toSorted((a, b) => a.range.offset - b.range.offset)) {
    const last = merged.at(-1);
    const { offset, length } = part.range;
    if (last) {
      const together = [...last.parts, part];
      const end = Math.max(last.offset + last.length, offset + length);
      const isNear = offset - (last.offset + last.length) <= MOST_BETWEEN;
      if (isNear && end - last.offset <= MOST_TOGETHER && fits(together, end - last.offset)) {
        merged[merged.length - 1] = { offset: last.offset, length: end - last.offset, parts: together };
        continue;
      }
    }
    merged.push({ offset, length, parts: [part] });
  }
  return merged;
}
