import { crc32, crc32OfBoth } from "../../util/crc32.ts";
import type { ReadPart } from "../store.ts";

/** Ranges that are remembered, of all entries: more of them would take more memory than a directory does. */
const MAX_RANGES = 200_000;

/** Bytes of a value that were read, and what their CRC-32 is. */
type ReadRange = Omit<ReadPart, "key">;

/** What is known of an entry that is read in parts. */
interface PartlyRead {
  /** By offset; none overlaps another. */
  ranges: ReadRange[];
  /** Bytes that they have together. */
  bytes: number;
  /** Whether more was read than is remembered. */
  isForgotten: boolean;
}

/** The size of a value, and the CRC-32 that it must have. */
interface Expected {
  readonly size: number;
  readonly crc32: number;
}

/**
 * Checksums of entries that are read in parts, in any order: the CRC-32 of each part is computed as it is read, that of
 * the value of them when they cover it.
 */
export class PartChecks {
  readonly #partly = new Map<string, PartlyRead>();
  readonly #whole = new Set<string>();
  readonly #wrong = new Map<string, number>();
  #ranges = 0;

  /** Entries of which parts were read, but not all. */
  get unchecked(): number {
    return this.#partly.size;
  }

  /** The CRC-32 that was found, of an entry in which it differs. */
  wrongOf(key: string): number | undefined {
    return this.#wrong.get(key);
  }

  /** Notes that a value was checked. */
  noteWhole(key: string): void {
    this.#drop(key);
    if (this.#whole.size >= MAX_RANGES) this.#whole.clear();
    this.#whole.add(key);
  }

  /** Notes what lies at `offset` of a value. Returns false where that was the last of it, and the CRC-32 differs. */
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
   * Adds the parts of one value that others have read, some of them the same. Returns false where with them all has been
   * read, and the CRC-32 differs.
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

  /** Ranges of a value that were not read. */
  left(key: string, size: number): readonly Gap[] {
    if (this.#partly.get(key)?.isForgotten) this.#drop(key);
    return this.#whole.has(key) ? [] : gapsOf(this.#partly.get(key)?.ranges ?? [], 0, size);
  }

  /** All that is known of entries that are not whole; it is forgotten here. */
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

  /** Whether the CRC-32 of a value that was read whole is right. */
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

/** The parts of a range that none of `ranges` has. */
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

/** The CRC-32 of `size` bytes that some of the ranges make, one after the other; undefined where none do. */
function crcOfAll(ranges: readonly ReadRange[], size: number): number | undefined {
  /** By the end of what is known from the begin on. */
  const known = new Map([[0, 0]]);
  for (const { offset, length, crc32 } of ranges) {
    const before = known.get(offset);
    if (before === undefined || known.has(offset + length)) continue;
    known.set(offset + length, crc32OfBoth(before, crc32, length));
  }
  return known.get(size);
}

/** The first range that ends after `offset`: in it, or after it. */
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
