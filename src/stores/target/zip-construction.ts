import { ZarrflowError } from "../../util/errors.ts";
import { FileReader } from "../files/file-reader.ts";
import { FileSink } from "../files/file-sink.ts";
import { storedEntries } from "../zip/stored-entries.ts";
import { entryEnd, type StoredEntry } from "../zip/zip-records.ts";
import { isOmeZip, ZipWriter } from "../zip/zip-writer.ts";
import type { ResumeOptions } from "./options.ts";
import { ResumedZip } from "./resumed-zip.ts";
import type { ConstructionOptions, TargetWriter } from "./target-writer.ts";

/** Starts a zip in the new file `build`, or continues one with uncompressed entries. */
export async function constructZip(
  build: string,
  description: string,
  { deflate, comment, fsync = false, resumed }: ConstructionOptions,
): Promise<TargetWriter> {
  if (resumed) {
    const { sink, writer, store } = await openResumedZip(build, description, { ...resumed, fsync, comment });
    return { ...zipInto(build, sink, writer, true), store, holds: async (value) => store.holds(value) };
  }
  const sink = await FileSink.create(build, { fsync });
  return zipInto(
    build,
    sink,
    new ZipWriter(sink, description, { deflate, comment, isOme: isOmeZip(description) }),
    deflate === undefined,
  );
}

/** Makes the writer of a build from a zip that is written to a file. */
function zipInto(build: string, sink: FileSink, writer: ZipWriter, canBeResumed: boolean): TargetWriter {
  return {
    store: writer,
    finish: () => writer.finish(),
    ...(canBeResumed && { keep: () => sink.keep() }),
    abort: () => writer.abort(new ZarrflowError("aborted", "the target was aborted")),
    async reopen() {
      await writer.finish();
      const { ZipStore } = await import("../zip/zip-store.ts");
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
