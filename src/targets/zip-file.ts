import { FileReader } from "../stores/files/file-reader.ts";
import { FileSink } from "../stores/files/file-sink.ts";
import { entryEnd, localHeader, type StoredEntry, storedEntryAt } from "../stores/zip/zip-records.ts";
import { isOmeZip, ZipWriter } from "../stores/zip/zip-writer.ts";
import type { RangeReader } from "../util/byte-range.ts";
import { crc32 } from "../util/crc32.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { Medium } from "./build.ts";
import type { ConstructionOptions, ResumeOptions } from "./options.ts";
import { ResumedZip } from "./resumed-zip.ts";

/** Starts a zip in the new file `build`, or continues one with uncompressed entries. */
export async function constructZip(
  build: string,
  description: string,
  { deflate, comment, fsync = false, resumed }: ConstructionOptions,
): Promise<Medium> {
  if (resumed) {
    const { sink, writer, store } = await openResumedZip(build, description, { ...resumed, fsync, comment });
    return { ...zipInto(build, sink, writer, true), store, hasValue: async (value) => store.hasValue(value) };
  }
  const sink = await FileSink.create(build, { fsync });
  return zipInto(
    build,
    sink,
    new ZipWriter(sink, description, { deflate, comment, isOme: isOmeZip(description) }),
    deflate === undefined,
  );
}

/** Makes a medium of a zip that is written to a file. */
function zipInto(build: string, sink: FileSink, writer: ZipWriter, canBeResumed: boolean): Medium {
  return {
    store: writer,
    finish: () => writer.finish(),
    ...(canBeResumed && {
      async keep() {
        await sink.keep();
      },
    }),
    discard: () => writer.abort(new ZarrflowError("aborted", "the target was aborted")),
    async reopen() {
      await writer.finish();
      const { ZipStore } = await import("../stores/zip/zip-store.ts");
      return ZipStore.open(await FileReader.open(build), writer.description);
    },
  };
}

/** A zip file that is continued. */
interface OpenedZip {
  readonly sink: FileSink;
  readonly writer: ZipWriter;
  readonly store: ResumedZip;
}

/**
 * Opens the zip of a run that ended before it wrote the directory, to continue after the last complete entry. If
 * an existing value is written again, it must be the same, and is not added a second time.
 */
async function openResumedZip(
  build: string,
  description: string,
  {
    readBack,
    fsync,
    comment,
  }: ResumeOptions & Pick<ConstructionOptions, "comment"> & { readonly fsync: boolean },
): Promise<OpenedZip> {
  const entries: StoredEntry[] = [];
  const file = await FileReader.open(build);
  try {
    for await (const entry of storedEntries(file, readBack)) entries.push(entry);
  } finally {
    await file.close();
  }
  const last = entries.at(-1);
  const end = last === undefined ? 0 : entryEnd(last);
  const sink = await FileSink.resume(build, end, { fsync });
  const writer = new ZipWriter(sink, description, {
    written: { entries },
    comment,
    isOme: isOmeZip(description),
  });
  return { sink, writer, store: new ResumedZip(writer, entries) };
}

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
