import { crc32, crc32OfBoth } from "../../util/crc32.ts";
import type { ReadPart } from "../store.ts";

/** Maximum number of remembered ranges, of all entries: more would take more memory than a directory. */
const MAX_RANGES = 200_000;

/** Bytes of a value that were read, with their CRC-32. */
type ReadRange = Omit<ReadPart, "key">;

/** State of an entry that is read in parts. */
interface PartlyRead {
  /** Sorted by offset, without overlaps. */
  ranges: ReadRange[];
  /** Total length of the ranges in bytes. */
  bytes: number;
  /** True if some ranges are no longer remembered. */
  isForgotten: boolean;
}

/** Size of a value and its correct CRC-32. */
interface Expected {
  readonly size: number;
  readonly crc32: number;
}

/**
 * Checksums of entries that are read in parts, in any order. The CRC-32 of each part is computed as it is read,
 * and the CRC-32 of the value from them when they cover it.
 */
export class PartChecks {
  readonly #partly = new Map<string, PartlyRead>();
  readonly #whole = new Set<string>();
  readonly #wrong = new Map<string, number>();
  #ranges = 0;

  /** Number of entries that were read in part only. */
  get unchecked(): number {
    return this.#partly.size;
  }

  /** Returns the wrong CRC-32 that was found for an entry, if any. */
  wrongOf(key: string): number | undefined {
    return this.#wrong.get(key);
  }

  /** Records that a value was checked. */
  noteWhole(key: string): void {
    this.#drop(key);
    if (this.#whole.size >= MAX_RANGES) this.#whole.clear();
    this.#whole.add(key);
  }

  /** Records bytes at `offset` of a value. Returns false if they complete the value and its CRC-32 is wrong. */
  note(key: string, expected: Expected, offset: number, bytes: Uint8Array): boolean {
    const before = this.#partly.get(key);
    if (this.#whole.has(key) || before?.isForgotten) return true;
    for (const gap of gapsOf(before?.ranges ?? [], offset, bytes.length)) {
      const part = bytes.subarray(gap.offset - offset, gap.offset - offset + gap.length);
      this.#insert(key, { ...gap, crc32: crc32(part) });
    }
    const { ranges, bytes: read } = this.#partly.get(key) ?? noneRead();
    if (read < expected.size) return true;
    return this.#judge(key, expected, crcOfAll(ranges, expected.size));
  }

  /**
   * Adds parts of one value that others have read, possibly overlapping known ones. Returns false if they complete
   * the value and its CRC-32 is wrong.
   */
  add(key: string, expected: Expected, parts: readonly ReadRange[]): boolean {
    if (this.#whole.has(key)) return true;
    const { ranges: own } = this.#partly.get(key) ?? noneRead();
    const found = crcOfAll([...own, ...parts].sort(byOffset), expected.size);
    if (found !== undefined) return this.#judge(key, expected, found);
    for (const range of parts) {
      const { ranges } = this.#partly.get(key) ?? noneRead();
      const [gap] = gapsOf(ranges, range.offset, range.length);
      if (gap?.length === range.length) this.#insert(key, range);
    }
    return true;
  }

  /** Returns the ranges of a value that were not read. */
  left(key: string, size: number): readonly Gap[] {
    if (this.#partly.get(key)?.isForgotten) this.#drop(key);
    return this.#whole.has(key) ? [] : gapsOf(this.#partly.get(key)?.ranges ?? [], 0, size);
  }

  /** Returns all ranges of incomplete entries, and forgets them. */
  take(): readonly ReadPart[] {
    const parts = [...this.#partly].flatMap(([key, { ranges }]) =>
      ranges.map((range) => ({ key, ...range })),
    );
    this.#partly.clear();
    this.#ranges = 0;
    return parts;
  }

  #drop(key: string): void {
    this.#ranges -= this.#partly.get(key)?.ranges.length ?? 0;
    this.#partly.delete(key);
  }

  #insert(key: string, range: ReadRange): void {
    const partly = this.#partly.get(key) ?? noneRead();
    this.#partly.set(key, partly);
    if (partly.isForgotten) return;
    partly.ranges.splice(firstAfter(partly.ranges, range.offset), 0, range);
    partly.bytes += range.length;
    if (++this.#ranges <= MAX_RANGES) return;
    this.#ranges -= partly.ranges.length;
    this.#partly.set(key, { ...noneRead(), isForgotten: true });
  }

  /** Returns true if the CRC-32 of a complete value is right. */
  #judge(key: string, expected: Expected, found: number | undefined): boolean {
    if (found === undefined) return true;
    if (found === expected.crc32) {
      this.noteWhole(key);
      return true;
    }
    this.#drop(key);
    this.#wrong.set(key, found);
    return false;
  }
}

interface Gap {
  readonly offset: number;
  readonly length: number;
}

/** Returns the parts of a range that are not in `ranges`. */
function gapsOf(ranges: readonly ReadRange[], offset: number, length: number): Gap[] {
  const gaps: Gap[] = [];
  const end = offset + length;
  let at = offset;
  for (let i = firstAfter(ranges, offset); i < ranges.length; i++) {
    const known = ranges[i];
    if (known === undefined || known.offset >= end) break;
    if (known.offset > at) gaps.push({ offset: at, length: known.offset - at });
    at = Math.max(at, known.offset + known.length);
  }
  if (at < end) gaps.push({ offset: at, length: end - at });
  return gaps;
}

function noneRead(): PartlyRead {
  return { ranges: [], bytes: 0, isForgotten: false };
}

function byOffset(a: ReadRange, b: ReadRange): number {
  return a.offset - b.offset;
}

/**
 * Returns the CRC-32 of a value of `size` bytes, if some of the ranges are consecutive and cover it; otherwise
 * undefined.
 */
function crcOfAll(ranges: readonly ReadRange[], size: number): number | undefined {
  /** CRC-32 of the bytes from the start, by their end. */
  const known = new Map([[0, 0]]);
  for (const { offset, length, crc32 } of ranges) {
    const before = known.get(offset);
    if (before === undefined || known.has(offset + length)) continue;
    known.set(offset + length, crc32OfBoth(before, crc32, length));
  }
  return known.get(size);
}

/** Returns the index of the first range that ends after `offset`. */
function firstAfter(ranges: readonly ReadRange[], offset: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const range = ranges[middle];
    if (range !== undefined && range.offset + range.length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
