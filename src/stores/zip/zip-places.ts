import { ZarrflowError } from "../../util/errors.ts";
import type { WritableStream } from "../../util/web-streams.ts";
import { Gathered } from "../file-system/read-blob.ts";
import { assertKey } from "../key.ts";
import type { StoreSpec, StoreWriter, WritableStore } from "../store.ts";
import { specOfObject } from "../store-spec.ts";
import { serialized } from "../writer.ts";

/** A zip in a store of the caller, as `open` and targets accept it, in this process. */
export interface ZipPlace {
  readonly spec: StoreSpec;
  readonly path: string;
}

/**
 * Names a zip in a store of the caller. As a target, it is streamed there, and appears when it is complete.
 *
 * @throws `path-not-allowed` for an invalid key
 * @example
 * ```ts
 * import { copy } from "zarrflow";
 * import { MemoryStore } from "zarrflow/stores/memory";
 * import { zipInStore } from "zarrflow/stores/zip";
 *
 * const store = new MemoryStore();
 * await copy("era5.zarr", zipInStore(store, "era5.zarr.zip"));
 * ```
 */
export function zipInStore(store: WritableStore, key: string): ZipPlace {
  assertKey(key);
  return { spec: { kind: "zip-value", store: specOfObject(store), key }, path: "" };
}

/**
 * Names a target zip that is written to a stream in order and never held in memory: a download, a file of
 * `showSaveFilePicker()`, the body of a request. The stream is closed when the zip is complete, and aborted if the
 * run is; only one run can use it. The zip cannot be read back, so `verify` is rejected.
 *
 * @param name describes the zip in messages
 * @example
 * ```ts
 * import { copy } from "zarrflow";
 * import { zipIntoStream } from "zarrflow/stores/zip";
 *
 * let bytes = 0;
 * const stream = new WritableStream<Uint8Array>({
 *   write(part) {
 *     bytes += part.length;
 *   },
 * });
 * await copy("era5.zarr", zipIntoStream(stream));
 * ```
 */
export function zipIntoStream(stream: WritableStream<Uint8Array>, name = "archive.zip"): ZipPlace {
  return zipInStore(new StreamStore(stream), name);
}

/** A store for the one value that a stream takes. */
class StreamStore implements WritableStore {
  readonly description = "stream";
  readonly #stream: WritableStream<Uint8Array>;
  #isWhole = false;

  constructor(stream: WritableStream<Uint8Array>) {
    this.#stream = stream;
  }

  async get(): Promise<undefined> {
    return this.size();
  }

  async size(): Promise<undefined> {
    if (this.#isWhole) throw this.#failure("data written to a stream cannot be read back");
  }

  async set(): Promise<never> {
    throw this.#failure("a stream takes only one value, written sequentially");
  }

  async openWriter(key: string): Promise<StoreWriter> {
    if (this.#stream.locked) throw this.#failure("the stream is locked or has been used before");
    const writer = this.#stream.getWriter();
    writer.closed.catch(() => {}); // writing fails with the same error
    const gathered = new Gathered((bytes) => writer.write(bytes), { areKept: true });
    return serialized(
      {
        write: (bytes) => gathered.write(bytes),
        commit: async () => {
          await gathered.flush();
          await writer.close();
          this.#isWhole = true;
        },
        abort: (reason) => writer.abort(reason).catch(() => {}), // the stream has failed already, and leaves nothing
      },
      key,
    );
  }

  async delete(): Promise<void> {}

  #failure(reason: string): ZarrflowError {
    const hint = "Omit `verify`, and create a new stream for each run.";
    return new ZarrflowError("unsupported-operation", reason, { store: this.description, hint });
  }
}
