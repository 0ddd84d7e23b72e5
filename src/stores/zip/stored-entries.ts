import type { RangeReader } from "../../util/byte-range.ts";
import { crc32 } from "../../util/crc32.ts";
import { localHeader, type StoredEntry, storedEntryAt } from "./zip-records.ts";

/** Bytes of a local header before the name. */
const HEADER_BYTES = 30;
/** Bytes that are read at a time. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Lists the entries that a `ZipWriter` stored in a file, from its start up to the first that is incomplete or
 * larger than 4 GiB.
 *
 * @param readBack true to compare their bytes with their checksums
 */
export async function* storedEntries(file: RangeReader, readBack: boolean): AsyncGenerator<StoredEntry> {
  for (let offset = 0; offset + HEADER_BYTES <= file.size; ) {
    const entry = await entryAt(file, offset);
    if (entry === undefined) return;
    const data = offset + localHeader(entry).length;
    const end = data + entry.size;
    if (end > file.size || (readBack && !(await isWhole(file, data, entry)))) return;
    yield entry;
    offset = end;
  }
}

async function entryAt(file: RangeReader, offset: number): Promise<StoredEntry | undefined> {
  const header = await file.read(offset, HEADER_BYTES);
  const found = storedEntryAt(header, offset);
  if (found === undefined || offset + HEADER_BYTES + found.nameLength > file.size) return undefined;
  const name = await file.read(offset + HEADER_BYTES, found.nameLength);
  return { ...found.entry, name };
}

async function isWhole(
  file: RangeReader,
  data: number,
  { size, crc32: expected }: StoredEntry,
): Promise<boolean> {
  let checksum = 0;
  for (let done = 0; done < size; done += PIECE_BYTES) {
    checksum = crc32(await file.read(data + done, Math.min(PIECE_BYTES, size - done)), checksum);
  }
  return checksum === expected;
}
