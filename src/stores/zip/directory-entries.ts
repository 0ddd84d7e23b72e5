import { type Entry, fromRandomAccessReaderPromise } from "yauzl";
import { ZarrflowError } from "../../util/errors.ts";
import type { DirectoryReader } from "./directory-reader.ts";

const COUNTS = 0x1_0000;

/**
 * The entries of an archive's directory, up to its end record, whatever count that states: writers without zip64 store
 * the count of many entries modulo 65,536.
 *
 * @param onOtherCount called at the end when the record states another count, which has lost what exceeds 16 bits
 * @throws `corrupt-store` when the directory does not end where its record says, or has another number of entries; bare
 *   errors of yauzl.
 */
export async function* directoryEntries(
  archive: DirectoryReader,
  onOtherCount: (stated: number, found: number) => void,
): AsyncGenerator<Entry> {
  const zip = await fromRandomAccessReaderPromise(archive, archive.size, {
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: false,
  });
  const end = await archive.end();
  const stated = zip.entryCount;
  // Its type says boolean: it is the offset of the next entry.
  const position = () => Number(zip.readEntryCursor);
  const statedEnd = position() + end.size;
  const isAtEnd = () => position() >= end.at || (position() === statedEnd && zip.entriesRead === stated);
  zip.entryCount = isAtEnd() ? 0 : Number.POSITIVE_INFINITY;
  for await (const entry of zip.eachEntry()) {
    if (isAtEnd()) zip.entryCount = zip.entriesRead;
    yield entry;
  }
  const found = zip.entriesRead;
  const isLostCarry = !end.isZip64 && found % COUNTS === stated;
  if (found !== stated && !isLostCarry) {
    throw new ZarrflowError("corrupt-store", "the zip directory has a wrong number of entries", {
      expected: stated,
      found,
    });
  }
  if (position() > end.at || (position() < end.at && (await archive.isEntryAt(position())))) {
    throw new ZarrflowError("corrupt-store", "the zip directory does not end at its end record", {
      expected: end.at,
      found: position(),
    });
  }
  if (found !== stated) onOtherCount(stated, found);
}
