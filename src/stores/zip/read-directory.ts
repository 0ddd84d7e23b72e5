import { throwIfAborted } from "../../util/abort.ts";
import type { RangeReader } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isKey } from "../key.ts";
import type { StoreFinding } from "../store.ts";
import { type DirectoryEntry, directoryEntries } from "./directory-entries.ts";
import { DirectoryReader } from "./directory-reader.ts";
import { ENCRYPTED, LINK, ZipIndex } from "./zip-index.ts";

/** Maximum number of entries that are reported individually. */
const MAX_FINDINGS = 1000;

export interface ZipDirectory {
  readonly index: ZipIndex;
  readonly findings: readonly StoreFinding[];
  readonly comment: Uint8Array;
}

/**
 * Reads the directory of an archive up to its end record. If two entries have the same name, the later one counts.
 * Entries ending in `/` are not keys. Symbolic links are keys of values that cannot be read.
 *
 * @param prefix empty, or ending in `/`: keys are the rest of the names; other entries are left out.
 * @throws `corrupt-store`; `path-not-allowed` if a name points outside the archive; `resource-limit` for a name
 *   with too many folders; `unsupported-operation` for archives in several files.
 */
export async function readDirectory(
  reader: RangeReader,
  prefix: string,
  signal?: AbortSignal,
): Promise<ZipDirectory> {
  const index = new ZipIndex();
  const findings: StoreFinding[] = [];
  let untold = 0;
  const note = (key: string, message: string, kind: Pick<StoreFinding, "isDuplicate"> = {}) => {
    if (findings.length < MAX_FINDINGS) findings.push({ key, message, ...kind });
    else untold++;
  };
  const archive = await DirectoryReader.open(reader, signal);
  try {
    const tellCount = (stated: number, found: number) =>
      note(
        "",
        `the zip directory states ${stated} entries, but has ${found}: some readers will not find all of them`,
      );
    for await (const entry of directoryEntries(archive, tellCount)) {
      throwIfAborted(signal);
      const { name, packedSize, size, crc32, nameLength } = entry;
      const offset = archive.start + entry.offset;
      index.occupy(offset);
      const link = isLink(entry);
      if (link && prefix.startsWith(`${name}/`)) throw linkError(name);
      if (name.endsWith("/") || !name.startsWith(prefix)) {
        const folder = name.slice(prefix.length, -1);
        if (name.startsWith(prefix) && isKey(folder)) index.addFolder(folder);
        continue;
      }
      const key = name.slice(prefix.length);
      if (!isKey(key)) {
        note(key, "zip entry skipped: its name is not a valid key");
        continue;
      }
      if (link) note(key, "the zip entry is a symbolic link, which is not followed and cannot be read");
      const isSecond = index.add(key, {
        ...{ offset, packedSize, size, crc32, nameLength },
        method: link ? LINK : entry.isEncrypted ? ENCRYPTED : entry.method,
      });
      if (isSecond) note(key, "two zip entries have this name: the later one is used", { isDuplicate: true });
    }
  } catch (error) {
    throwIfAborted(signal);
    throw error;
  }
  if (untold > 0)
    findings.push({ key: "", message: `${untold} more zip entries that are skipped or duplicates` });
  return { index, findings, comment: archive.comment };
}

/** True if an entry made on Unix is a symbolic link. */
function isLink({ versionMadeBy, attributes }: DirectoryEntry): boolean {
  return versionMadeBy >>> 8 === 3 && ((attributes >>> 16) & 0o170000) === 0o120000;
}

/** Makes the error for reading a symbolic link, or through one. */
export function linkError(key: string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the zip entry is a symbolic link, which is not followed", {
    key,
    hint: "Zip the files instead of the links (`zip -r` without `-y`).",
  });
}
