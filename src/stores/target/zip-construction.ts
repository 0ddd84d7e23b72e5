import { ZarrflowError } from "../../util/errors.ts";
import { FileReader } from "../files/file-reader.ts";
import { FileSink } from "../files/file-sink.ts";
import { ZipWriter } from "../zip/zip-writer.ts";
import type { ConstructionOptions, TargetWriter } from "./target-writer.ts";

/** Begins a zip in the new file `build`, or goes on with one whose entries are stored as they are. */
export async function constructZip(
  build: string,
  description: string,
  { deflate, fsync = false, resumed }: ConstructionOptions,
): Promise<TargetWriter> {
  if (resumed) {
    const { openResumedZip } = await import("./resumed-zip.ts");
    const { sink, writer, store } = await openResumedZip(build, description, { ...resumed, fsync });
    return { ...zipInto(build, sink, writer, true), store, holds: async (value) => store.holds(value) };
  }
  const sink = await FileSink.create(build, { fsync });
  return zipInto(build, sink, new ZipWriter(sink, description, { deflate }), deflate === undefined);
}

/** A zip that is written to a file. */
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
