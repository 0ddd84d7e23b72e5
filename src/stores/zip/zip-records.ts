/** Largest size or offset that fits into 4 bytes, where 0xffffffff means "see the zip64 field". */
export const MAX_32_BIT = 0xfffffffe;
const MAX_16_BIT = 0xfffe;

const UTF8_NAME = 0x0800;
const SIZES_FOLLOW = 0x0008;
/** 1 January 1980, the first date of zip: the same input gives the same bytes. */
const TIME_AND_DATE = 0x0021_0000;
/** Signature of the record that locates the zip64 end record. */
const LOCATOR_SIGNATURE = 0x07064b50;
/** Unix, zip specification 6.3. */
const MADE_BY = (3 << 8) | 63;
const NEEDS_ZIP = 20;
const NEEDS_ZIP64 = 45;

export interface StoredEntry {
  readonly name: Uint8Array;
  readonly offset: number;
  readonly size: number;
  readonly crc32: number;
  /** True if size and CRC follow the data, because they were unknown when the local header was written. */
  readonly sizesFollow: boolean;
}

export function localHeader({ name, size, crc32, sizesFollow }: StoredEntry): Uint8Array {
  return new ZipRecord(30 + name.length)
    .u32(0x04034b50)
    .u16(NEEDS_ZIP)
    .u16(flags(sizesFollow))
    .u16(0)
    .u32(TIME_AND_DATE)
    .u32(sizesFollow ? 0 : crc32)
    .u32(sizesFollow ? 0 : size)
    .u32(sizesFollow ? 0 : size)
    .u16(name.length)
    .u16(0)
    .tail(name).bytes;
}

/** Returns the offset after an entry. */
export function entryEnd(entry: StoredEntry): number {
  const { offset, size, sizesFollow } = entry;
  return offset + localHeader(entry).length + size + (sizesFollow ? dataDescriptor(entry).length : 0);
}

/** Parses a local header that this module wrote; undefined for any other, and if size and CRC follow the data. */
export function storedEntryAt(
  header: Uint8Array,
  offset: number,
): { readonly entry: Omit<StoredEntry, "name">; readonly nameLength: number } | undefined {
  const view = new DataView(header.buffer, header.byteOffset, header.length);
  const [crc32, size, nameLength] = [
    view.getUint32(14, true),
    view.getUint32(18, true),
    view.getUint16(26, true),
  ];
  const entry = { name: new Uint8Array(nameLength), offset, size, crc32, sizesFollow: false };
  const expected = localHeader(entry).subarray(0, header.length);
  return header.every((byte, i) => byte === expected[i]) ? { entry, nameLength } : undefined;
}

export function dataDescriptor(entry: StoredEntry): Uint8Array {
  const { crc32, size } = entry;
  if (!isZip64(entry)) return new ZipRecord(16).u32(0x08074b50).u32(crc32).u32(size).u32(size).bytes;
  return new ZipRecord(24).u32(0x08074b50).u32(crc32).u64(size).u64(size).bytes;
}

export function directoryEntry(entry: StoredEntry): Uint8Array {
  const { name, offset, size, crc32, sizesFollow } = entry;
  const zip64 = isZip64(entry);
  const extraBytes = zip64 ? 28 : 0;
  const record = new ZipRecord(46 + name.length + extraBytes)
    .u32(0x02014b50)
    .u16(MADE_BY)
    .u16(zip64 ? NEEDS_ZIP64 : NEEDS_ZIP)
    .u16(flags(sizesFollow))
    .u16(0)
    .u32(TIME_AND_DATE)
    .u32(crc32)
    .u32(zip64 ? 0xffffffff : size)
    .u32(zip64 ? 0xffffffff : size)
    .u16(name.length)
    .u16(extraBytes)
    .u16(0)
    .u16(0)
    .u16(0)
    .u32(FILE_MODE * 0x10000)
    .u32(zip64 ? 0xffffffff : offset)
    .tail(name);
  if (zip64) record.u16(0x0001).u16(24).u64(size).u64(size).u64(offset);
  return record.bytes;
}

/** Returns the end of an archive whose directory has `entries` entries in `size` bytes at `offset`. */
export function endRecords(
  entries: number,
  offset: number,
  size: number,
  comment: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const manyEntries = entries > MAX_16_BIT;
  const longDirectory = size > MAX_32_BIT;
  const farDirectory = offset > MAX_32_BIT;
  const end = new ZipRecord(22 + comment.length)
    .u32(0x06054b50)
    .u16(0)
    .u16(0)
    .u16(manyEntries ? 0xffff : entries)
    .u16(manyEntries ? 0xffff : entries)
    .u32(longDirectory ? 0xffffffff : size)
    .u32(farDirectory ? 0xffffffff : offset)
    .u16(comment.length)
    .tail(comment);
  if (!(manyEntries || longDirectory || farDirectory)) return end.bytes;
  return new ZipRecord(56 + 20 + end.bytes.length)
    .u32(0x06064b50)
    .u64(44)
    .u16(MADE_BY)
    .u16(NEEDS_ZIP64)
    .u32(0)
    .u32(0)
    .u64(entries)
    .u64(entries)
    .u64(size)
    .u64(offset)
    .u32(LOCATOR_SIGNATURE)
    .u32(0)
    .u64(offset + size)
    .u32(1)
    .tail(end.bytes).bytes;
}

function flags(sizesFollow: boolean): number {
  return UTF8_NAME | (sizesFollow ? SIZES_FOLLOW : 0);
}

function isZip64({ size, offset }: StoredEntry): boolean {
  return size > MAX_32_BIT || offset > MAX_32_BIT;
}

/** Consecutive little-endian fields. */
class ZipRecord {
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  #used = 0;

  constructor(length: number) {
    this.bytes = new Uint8Array(length);
    this.#view = new DataView(this.bytes.buffer);
  }

  u16(value: number): this {
    this.#view.setUint16(this.#used, value, true);
    this.#used += 2;
    return this;
  }

  u32(value: number): this {
    this.#view.setUint32(this.#used, value, true);
    this.#used += 4;
    return this;
  }

  u64(value: number): this {
    return this.u32(value % 2 ** 32).u32(Math.floor(value / 2 ** 32));
  }

  tail(bytes: Uint8Array): this {
    this.bytes.set(bytes, this.#used);
    this.#used += bytes.length;
    return this;
  }
}

/** Writes the bytes of one archive to a sink. Calls must not overlap. */
export interface EntryEncoder {
  /** Writes a whole entry; the caller may reuse `bytes` when it resolves. */
  add(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Like `add`, but finished when it returns. Returns false, with nothing written, if that is not possible. Absent
   * if it never is.
   */
  addSync?(key: string, bytes: Uint8Array): boolean;
  /** Starts an entry of unknown size. */
  begin(key: string): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Writes the directory and the comment, the last bytes of the archive. */
  finish(comment?: Uint8Array): Promise<void>;
}

/** Permissions of unpacked entries: a regular file, `rw-r--r--`. */
export const FILE_MODE = 0o100644;
