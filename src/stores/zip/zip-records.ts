import { FILE_MODE } from "./entry-encoder.ts";

/** Sizes and offsets beyond do not fit into 4 bytes, where 0xffffffff means "see the zip64 field". */
export const MOST_32_BIT = 0xfffffffe;
const MOST_16_BIT = 0xfffe;

/** A value and its width in bytes. */
type Field = readonly [value: number, width: 2 | 4 | 8];

const UTF8_NAME = 0x0800;
const SIZES_FOLLOW = 0x0008;
/** 1 January 1980, the first day of a zip: the same input gives the same bytes. */
const TIME_AND_DATE: readonly Field[] = [
  [0, 2],
  [0x0021, 2],
];
/** Unix, zip specification 6.3. */
const MADE_BY = (3 << 8) | 63;
const NEEDS_ZIP = 20;
const NEEDS_ZIP64 = 45;

export interface StoredEntry {
  readonly name: Uint8Array;
  readonly offset: number;
  readonly size: number;
  readonly crc32: number;
  /** Whether size and CRC come after the data, unknown when the local header was written. */
  readonly sizesFollow: boolean;
}

export function localHeader({ name, size, crc32, sizesFollow }: StoredEntry): Uint8Array {
  return pack(
    [
      [0x04034b50, 4],
      [NEEDS_ZIP, 2],
      [flags(sizesFollow), 2],
      [0, 2],
      ...TIME_AND_DATE,
      [sizesFollow ? 0 : crc32, 4],
      [sizesFollow ? 0 : size, 4],
      [sizesFollow ? 0 : size, 4],
      [name.length, 2],
      [0, 2],
    ],
    name,
  );
}

export function dataDescriptor(entry: StoredEntry): Uint8Array {
  const width = isZip64(entry) ? 8 : 4;
  return pack([
    [0x08074b50, 4],
    [entry.crc32, 4],
    [entry.size, width],
    [entry.size, width],
  ]);
}

export function directoryEntry(entry: StoredEntry): Uint8Array {
  const { name, offset, size, crc32, sizesFollow } = entry;
  const zip64 = isZip64(entry);
  const extra = zip64
    ? pack([
        [0x0001, 2],
        [24, 2],
        [size, 8],
        [size, 8],
        [offset, 8],
      ])
    : new Uint8Array(0);
  return pack(
    [
      [0x02014b50, 4],
      [MADE_BY, 2],
      [zip64 ? NEEDS_ZIP64 : NEEDS_ZIP, 2],
      [flags(sizesFollow), 2],
      [0, 2],
      ...TIME_AND_DATE,
      [crc32, 4],
      [zip64 ? 0xffffffff : size, 4],
      [zip64 ? 0xffffffff : size, 4],
      [name.length, 2],
      [extra.length, 2],
      [0, 2],
      [0, 2],
      [0, 2],
      [FILE_MODE * 0x10000, 4],
      [zip64 ? 0xffffffff : offset, 4],
    ],
    name,
    extra,
  );
}

/** The end of an archive whose directory of `entries` entries is `size` bytes at `offset`. */
export function endRecords(entries: number, offset: number, size: number): Uint8Array {
  const manyEntries = entries > MOST_16_BIT;
  const longDirectory = size > MOST_32_BIT;
  const farDirectory = offset > MOST_32_BIT;
  const end = pack([
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [manyEntries ? 0xffff : entries, 2],
    [manyEntries ? 0xffff : entries, 2],
    [longDirectory ? 0xffffffff : size, 4],
    [farDirectory ? 0xffffffff : offset, 4],
    [0, 2],
  ]);
  if (!(manyEntries || longDirectory || farDirectory)) return end;
  return pack(
    [
      [0x06064b50, 4],
      [44, 8],
      [MADE_BY, 2],
      [NEEDS_ZIP64, 2],
      [0, 4],
      [0, 4],
      [entries, 8],
      [entries, 8],
      [size, 8],
      [offset, 8],
      // the locator of the record above
      [0x07064b50, 4],
      [0, 4],
      [offset + size, 8],
      [1, 4],
    ],
    end,
  );
}

function flags(sizesFollow: boolean): number {
  return UTF8_NAME | (sizesFollow ? SIZES_FOLLOW : 0);
}

function isZip64({ size, offset }: StoredEntry): boolean {
  return size > MOST_32_BIT || offset > MOST_32_BIT;
}

/** Little-endian fields, then bytes as they are. */
function pack(fields: readonly Field[], ...tails: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const [, width] of fields) length += width;
  let at = 0;
  const bytes = new Uint8Array(tails.reduce((sum, tail) => sum + tail.length, length));
  const view = new DataView(bytes.buffer);
  for (const [value, width] of fields) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value % 2 ** 32, true);
    if (width === 8) view.setUint32(at + 4, Math.floor(value / 2 ** 32), true);
    at += width;
  }
  for (const tail of tails) {
    bytes.set(tail, at);
    at += tail.length;
  }
  return bytes;
}
