import { ZarrflowError } from "../../util/errors.ts";
import { FileReader } from "../files/file-reader.ts";
import { FileSink } from "../files/file-sink.ts";
import { ZipWriter } from "../zip/zip-writer.ts";
import type { TargetBuildOptions } from "./options.ts";
import type { TargetWriter } from "./target-writer.ts";

/** Begins a zip in the new file `build`. */
export async function constructZip(
  build: string,
  description: string,
  { deflate, fsync = false }: TargetBuildOptions,
): Promise<TargetWriter> {
  const writer = new ZipWriter(await FileSink.create(build, { fsync }), description, { deflate });
  return {
    store: writer,
    finish: () => writer.finish(),
    abort: () => writer.abort(new ZarrflowError("aborted", "the target was aborted")),
    async reopen() {
      await writer.finish();
      const { ZipStore } = await import("../zip/zip-store.ts");
      return ZipStore.open(await FileReader.open(build), description);
    },
  };
}
