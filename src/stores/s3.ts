import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { HttpValues } from "./http/http-values.ts";
import { aboutKey, inStore } from "./in-store.ts";
import { checkKey, checkPrefix, isKey } from "./key.ts";
import { withOneBuffer } from "./repeat.ts";
import { listObjects } from "./s3/list-objects.ts";
import { MultipartWriter } from "./s3/multipart-writer.ts";
import { checksummed } from "./s3/put-object.ts";
import { S3Client, type S3ClientOptions } from "./s3/s3-client.ts";
import type {
  GetOptions,
  ListableStore,
  Listed,
  ListedEntry,
  StoreOptions,
  StoreWriter,
  WritableStore,
} from "./store.ts";
import { inTurn } from "./writer.ts";

export type { S3CredentialSource, S3Credentials } from "./s3/credentials.ts";

export interface S3StoreOptions extends S3ClientOptions {
  /**
   * Where in the bucket the store's root is, without slashes at its ends.
   *
   * @default ""
   */
  readonly prefix?: string;
}

/**
 * Keys below a prefix of a bucket, of Amazon S3 or of any server that speaks it. Every request is signed and checked,
 * and made again where it failed for now. Values of unknown size are uploaded in parts, of which one is held in memory.
 *
 * @example
 * ```ts
 * import { S3Store } from "zarrflow/stores/s3";
 *
 * const store = new S3Store({ bucket: "era5-pds", prefix: "zarr/2024", credentials: "anonymous" });
 * console.log(store.description); // s3://era5-pds/zarr/2024
 * ```
 */
export class S3Store implements ListableStore, WritableStore {
  readonly description: string;
  readonly #client: S3Client;
  readonly #root: string;
  readonly #values: HttpValues;

  /** @throws `invalid-option`, `path-not-allowed`. */
  constructor({ prefix = "", ...options }: S3StoreOptions) {
    if (prefix !== "") checkKey(prefix);
    this.#client = new S3Client(options);
    this.#root = prefix === "" ? "" : `${prefix}/`;
    this.description = `s3://${options.bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#values = new HttpValues(
      (method, key, { range, signal }) =>
        this.#client.send(this.#root + key, {}, { method, headers: { ...(range && { range }) }, signal }),
      [404],
    );
  }

  /** @throws as `HttpStore.get`; `not-found` when there is no bucket. */
  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const { signal } = options;
    const once = withOneBuffer(options);
    const call = { operation: "get", key };
    return this.#about(key, signal, () =>
      this.#client.repeat(call, () => this.#values.get(key, once), signal),
    );
  }

  async size(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    const call = { operation: "size", key };
    return this.#about(key, signal, () =>
      this.#client.repeat(call, () => this.#values.size(key, signal), signal),
    );
  }

  list(prefix: string, { signal }: StoreOptions = {}): ReadableStream<Listed> {
    checkPrefix(prefix);
    return streamFrom(this.#listed(prefix, false, signal)) as ReadableStream<Listed>;
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    checkPrefix(prefix);
    return streamFrom(this.#listed(prefix, true, signal));
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    const request = { method: "PUT", ...checksummed(bytes), signal } as const;
    await this.#about(key, signal, () => this.#client.ask(this.#root + key, {}, request));
  }

  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    signal?.throwIfAborted();
    checkKey(key);
    const writer = new MultipartWriter(this.#client, this.#root + key, signal);
    const about = (run: () => Promise<void>) => this.#about(key, undefined, run);
    return inTurn(
      {
        write: (bytes) => about(() => writer.write(bytes)),
        commit: () => about(() => writer.commit()),
        abort: () => about(() => writer.abort()),
      },
      key,
      signal,
    );
  }

  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    await this.#about(key, signal, () =>
      this.#client.ask(this.#root + key, {}, { method: "DELETE", signal }),
    );
  }

  async *#listed(
    prefix: string,
    isLevel: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ListedEntry> {
    const request = { prefix: this.#root + prefix, isLevel, signal };
    try {
      for await (const entry of listObjects(this.#client, request)) {
        signal?.throwIfAborted();
        // Consoles make objects whose names end in a slash to stand for folders.
        if ("prefix" in entry) yield { prefix: entry.prefix.slice(this.#root.length) };
        else if (isKey(entry.key)) yield { ...entry, key: entry.key.slice(this.#root.length) };
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw inStore(error, this.description, prefix);
    }
  }

  #about<T>(key: string, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    return aboutKey({ store: this.description, key, signal }, call);
  }
}
