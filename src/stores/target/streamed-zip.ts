import type { ByteSink } from "../byte-sink.ts";
import type { StoreWriter, TargetBuild, WritableStore } from "../store.ts";
import { isOmeZip, ZipWriter, type ZipWriterOptions } from "../zip/zip-writer.ts";
import type { TargetBuildOptions } from "./options.ts";
import { ResumedZip } from "./resumed-zip.ts";
import type { TakenKey } from "./taken-key.ts";
import { bytesOf, entryLine, wholeEntries, zipUploadLine } from "./zip-upload-log.ts";

/** A zip that streams into a value of a store. */
export interface StreamedZip {
  readonly store: WritableStore;
  /** What it streams into; not committed with the zip. */
  readonly value: StoreWriter;
  readonly holds?: TargetBuild["holds"];
  /** Writes the directory. */
  finish(): Promise<void>;
  /** Leaves what was uploaded to a run that goes on with it. Absent where none can. */
  leave?(): Promise<void>;
  /** Leaves nothing. */
  abort(reason: unknown): Promise<void>;
}

/**
 * Begins a zip, or goes on with one that an earlier run has left: after the last part that the store still has and that
 * holds a whole entry. What follows the last whole entry in that part is in no directory.
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
  // nobody can go on with what no run says is its own
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
      journal.flush().catch(() => {}); // what is added next fails with that
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
      await value.abort(reason); // a zip that is finished, and was not committed, leaves it open
    },
  };
}

/** A zip whose bytes become those of `value`, which is not committed with it. */
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
