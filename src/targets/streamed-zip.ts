import type { StoreWriter, TargetBuild, WritableStore } from "../stores/store.ts";
import type { ByteSink } from "../stores/writer.ts";
import { isOmeZip, ZipWriter, type ZipWriterOptions } from "../stores/zip/zip-writer.ts";
import type { TargetBuildOptions } from "./options.ts";
import { ResumedZip } from "./resumed-zip.ts";
import type { TakenKey } from "./taken-key.ts";
import { bytesOf, entryLine, wholeEntries, zipUploadLine } from "./zip-upload-log.ts";

/** A zip that streams into a value of a store. */
export interface StreamedZip {
  readonly store: WritableStore;
  /** The value that the zip streams into; finishing the zip does not commit it. */
  readonly value: StoreWriter;
  readonly holds?: TargetBuild["holds"];
  /** Writes the central directory. */
  finish(): Promise<void>;
  /** Leaves the uploaded parts to a run that continues them. Absent if none can. */
  leave?(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

/**
 * Starts a zip, or continues one of an earlier run, after the last part that the store still has and that contains
 * the end of an entry. Bytes after the last complete entry in that part are not referred to by the directory.
 */
export async function streamedZip(
  store: WritableStore,
  key: string,
  {
    journal,
    left,
    deflate,
    comment,
    expectedSize,
    memory,
    signal,
  }: TakenKey & Pick<TargetBuildOptions, "deflate" | "comment" | "expectedSize" | "memory" | "signal">,
): Promise<StreamedZip> {
  const description = `zip ${store.description}/${key}`;
  const how = { comment, isOme: isOmeZip(key) };
  if (journal === undefined || store.openUpload === undefined) {
    const value = await store.openWriter(key, { expectedSize, memory, signal });
    return zipInto(value, await zipWriter(value, description, { ...how, deflate }));
  }
  // without a mark of its owner, nobody can continue the upload
  const note = (line: string) => {
    if (journal.isBegun) journal.append(line);
  };
  const upload = await store.openUpload(key, {
    expectedSize,
    memory,
    signal,
    begun: left?.upload,
    onBegun: (id) => {
      note(zipUploadLine({ upload: id }));
      journal.flush().catch(() => {}); // the next append throws the error
    },
    onPart: ({ number, size, tag }) => note(zipUploadLine({ part: number, size, tag })),
  });
  const bytes = bytesOf(upload.kept);
  const entries = left ? wholeEntries(left.entries, bytes) : [];
  if (left) note(zipUploadLine({ goesOnAfter: upload.kept.length }));
  const writer = await zipWriter(upload, description, {
    ...how,
    written: { entries, bytes },
    onEntry: (entry) => note(entryLine(entry)),
  });
  const zip = { ...zipInto(upload, writer), leave: () => upload.leave() };
  if (left === undefined) return zip;
  const resumed = new ResumedZip(writer, entries);
  return { ...zip, store: resumed, holds: async (value) => resumed.holds(value) };
}

function zipInto(value: StoreWriter, writer: ZipWriter): StreamedZip {
  return {
    store: writer,
    value,
    finish: () => writer.finish(),
    async abort(reason) {
      await writer.abort(reason);
      await value.abort(reason); // finishing the zip without a commit leaves the value open
    },
  };
}

/** Makes a zip writer whose bytes go to `value`, which it does not commit. */
async function zipWriter(
  value: StoreWriter,
  description: string,
  options: ZipWriterOptions,
): Promise<ZipWriter> {
  const sink: ByteSink = {
    write: (bytes) => value.write(bytes),
    close: async () => {},
    abort: (reason) => value.abort(reason),
  };
  try {
    return new ZipWriter(sink, description, options);
  } catch (error) {
    await value.abort(error);
    throw error;
  }
}
