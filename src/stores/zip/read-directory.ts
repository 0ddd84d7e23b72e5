import { type Entry, fromRandomAccessReaderPromise, getFileNameLowLevel, validateFileName } from "yauzl";
import type { RangeReader } from "../../util/byte-range.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { isKey } from "../key.ts";
import type { StoreFinding } from "../store.ts";
import { DirectoryReader } from "./directory-reader.ts";
import { ZipIndex } from "./zip-index.ts";

/** Entries that are told of one by one. */
const MOST_FINDINGS = 1000;

export interface ZipDirectory {
  readonly index: ZipIndex;
  readonly findings: readonly StoreFinding[];
}

/**
 * Reads the directory of an archive. Of two entries of one name the later counts; entries ending in `/` are no keys.
 *
 * @param prefix empty, or ending in `/`: keys are what follows it in the names; other entries are left out.
 * @throws `corrupt-store`; `path-not-allowed` where a name leaves the archive; `unsupported-operation` for archives in
 *   several files.
 * @see V2-82
 */
export async function readDirectory(
  reader: RangeReader,
  prefix: string,
  signal?: AbortSignal,
): Promise<ZipDirectory> {
  const index = new ZipIndex();
  const findings: StoreFinding[] = [];
  let untold = 0;
  const tell = (key: string, message: string) => {
    if (findings.length < MOST_FINDINGS) findings.push({ key, message });
    else untold++;
  };
  const archive = await DirectoryReader.open(reader, signal);
  try {
    const zip = await fromRandomAccessReaderPromise(archive, archive.size, {
      autoClose: false,
      decodeStrings: false,
      validateEntrySizes: false,
    });
    for await (const entry of zip.eachEntry()) {
      signal?.throwIfAborted();
      const name = nameOf(entry);
      const offset = archive.start + entry.relativeOffsetOfLocalHeader;
      index.occupy(offset);
      if (name.endsWith("/") || !name.startsWith(prefix)) continue;
      const key = name.slice(prefix.length);
      const fault = isKey(key) ? (isLink(entry) ? "a symbolic link is no value" : undefined) : "no key";
      if (fault !== undefined) tell(key, `zip entry left out: ${fault}`);
      else if (
        index.add(key, {
          offset,
          packedSize: entry.compressedSize,
          size: entry.uncompressedSize,
          crc32: entry.crc32,
          method: entry.isEncrypted() ? -1 : entry.compressionMethod,
          nameLength: entry.fileNameLength,
        })
      ) {
        tell(key, "two zip entries of this name: the later counts");
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw archive.failure === undefined ? directoryError(error) : archive.failure.error;
  }
  if (untold > 0)
    findings.push({ key: "", message: `${untold} zip entries more that are left out, or twice` });
  return { index, findings };
}

function nameOf(entry: Entry): string {
  const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
  const fault = validateFileName(name);
  if (fault === null) return name;
  throw new ZarrflowError("path-not-allowed", `a zip entry leaves the archive: ${fault}`, { key: name });
}

/** Whether an entry made on Unix is a symbolic link. */
function isLink({ versionMadeBy, externalFileAttributes }: Entry): boolean {
  return versionMadeBy >>> 8 === 3 && ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

/** yauzl's own errors are bare sentences. */
function directoryError(error: unknown): unknown {
  if (isZarrflowError(error) || !(error instanceof Error)) return error;
  const isUnsupported = /not supported/.test(error.message);
  return new ZarrflowError(
    isUnsupported ? "unsupported-operation" : "corrupt-store",
    `the zip directory cannot be read: ${error.message}`,
    {},
    { cause: error },
  );
}
