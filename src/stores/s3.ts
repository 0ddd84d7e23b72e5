import { throwIfAborted } from "../util/abort.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { forKey, withErrorContext } from "./error-context.ts";
import { HttpValues } from "./http/http-values.ts";
import { isBrowser } from "./http/page.ts";
import { assertKey, assertPrefix, isKey } from "./key.ts";
import { withOneBuffer } from "./remote/retry-requests.ts";
import { isReservedKey, LOCK_NAME } from "./reserved-names.ts";
import { listObjects, listUploads } from "./s3/listings.ts";
import { abortUpload, checksummed, MultipartWriter, putIfAbsent } from "./s3/multipart.ts";
import { copyObject, deleteObject, deleteObjects } from "./s3/object-requests.ts";
import { S3_CLIENT_OPTIONS, S3Client, type S3ClientOptions } from "./s3/s3-client.ts";
import type {
  GetOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListedRun,
  OpenUpload,
  Store,
  StoreOptions,
  StoreWriter,
  UploadOptions,
  UploadWriter,
  ValueCopier,
  VersionOptions,
  WritableStore,
  WriterOptions,
} from "./store.ts";
import { markNativeStore } from "./store-traits.ts";
import { serialized } from "./writer.ts";

export type { S3CredentialSource, S3Credentials } from "./s3/credentials.ts";
export type { S3Encryption } from "./s3/s3-client.ts";

export interface S3StoreOptions extends S3ClientOptions {
  /**
   * Path of the store's root in the bucket, without slashes at its ends.
   *
   * @default ""
   */
  readonly prefix?: string | undefined;
}

const S3_OPTIONS: OptionNames<S3StoreOptions> = {
  ...S3_CLIENT_OPTIONS,
  prefix: true,
};

/**
 * Keys below a prefix of a bucket, of Amazon S3 or any compatible server. Requests are signed, responses are
 * checked, and transient failures are retried. Values of unknown size are uploaded in parts; one part at a time is
 * held in memory.
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
  static {
    markNativeStore(S3Store.prototype);
  }

  readonly description: string;
  readonly #client: S3Client;
  readonly #root: string;
  readonly #values: HttpValues;
  readonly #bucket: string;

  /** @throws `invalid-option`, `path-not-allowed`. */
  constructor({ prefix = "", ...options }: S3StoreOptions) {
    assertKnown(options, S3_OPTIONS);
    if (prefix !== "") assertKey(prefix);
    this.#client = new S3Client(options);
    this.#root = prefix === "" ? "" : `${prefix}/`;
    this.description = `s3://${options.bucket}${prefix === "" ? "" : `/${prefix}`}`;
    this.#bucket = options.bucket;
    this.#values = new HttpValues(
      (method, key, request) => this.#client.send(this.#root + key, {}, { method, ...request }),
      // signed requests need a preflight request anyway
      { missing: [404], hasSuffixes: !isBrowser || options.credentials !== undefined },
    );
  }

  /** @throws as `HttpStore.get`; `not-found` if the bucket does not exist. */
  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const { signal } = options;
    const once = withOneBuffer(options);
    const call = { operation: "get", key: this.#root + key };
    return this.#about(key, signal, () =>
      this.#client.retry(call, () => this.#values.get(key, once), signal),
    );
  }

  async size(key: string, options: VersionOptions = {}): Promise<number | undefined> {
    const { signal } = options;
    const call = { operation: "size", key: this.#root + key };
    return this.#about(key, signal, () =>
      this.#client.retry(call, () => this.#values.size(key, options), signal),
    );
  }

  list(prefix: string, { signal }: StoreOptions = {}): ReadableStream<KeyEntry> {
    assertPrefix(prefix);
    return streamFrom(this.#listed(prefix, false, signal)) as ReadableStream<KeyEntry>;
  }

  listDirectory(prefix: string, { signal }: StoreOptions = {}): ReadableStream<ListedEntry> {
    assertPrefix(prefix);
    return streamFrom(this.#listed(prefix, true, signal));
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    const request = { method: "PUT", ...checksummed(bytes), signal } as const;
    await this.#about(key, signal, () => this.#client.ask(this.#root + key, {}, request));
  }

  /** @throws `unsupported-operation` if the server does not support conditional writes. */
  async setIfAbsent(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<boolean> {
    return this.#about(key, signal, () => putIfAbsent(this.#client, this.#root + key, bytes, signal));
  }

  /** Measures the age by the server's clock. */
  async ageOf(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    const { headers } = await this.#about(key, signal, () => this.#client.head(this.#root + key, signal));
    const [now, then] = ["date", "last-modified"].map((name) => Date.parse(headers.get(name) ?? ""));
    const age = (now ?? Number.NaN) - (then ?? Number.NaN);
    return Number.isNaN(age) ? undefined : age;
  }

  /** Lets the server copy objects that are on the same server and readable with the same credentials. */
  async copierFrom(source: Store): Promise<ValueCopier | undefined> {
    if (!(source instanceof S3Store) || !(await this.#client.canCopyFrom(source.#client))) return undefined;
    return ({ key, size: listed, etag }, to, { signal } = {}) =>
      this.#about(to, signal, async () => {
        assertKey(key);
        const size = listed ?? (await source.size(key, { signal }));
        if (size === undefined) return undefined;
        const from = { bucket: source.#bucket, key: source.#root + key, size, etag };
        return (await copyObject(this.#client, this.#root + to, from, { signal })) ? size : undefined;
      });
  }

  openWriter(key: string, options: WriterOptions = {}): Promise<StoreWriter> {
    return this.openUpload(key, options);
  }

  async openUpload(key: string, options: UploadOptions = {}): Promise<UploadWriter> {
    const { signal } = options;
    throwIfAborted(signal);
    assertKey(key);
    const about = <T>(run: () => Promise<T>) => this.#about(key, undefined, run);
    const writer = await about(() => MultipartWriter.open(this.#client, this.#root + key, options));
    let isLeft = false;
    const steps = serialized(
      {
        write: (bytes) => about(() => writer.write(bytes)),
        commit: () => about(() => writer.commit()),
        abort: () => about(() => (isLeft ? writer.leave() : writer.abort())),
      },
      key,
      signal,
    );
    const leave = () => {
      isLeft = true;
      return steps.abort();
    };
    return { ...steps, kept: writer.kept, leave };
  }

  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    await this.#about(key, signal, () => deleteObject(this.#client, this.#root + key, signal));
  }

  async deleteMany(keys: readonly string[], { signal }: StoreOptions = {}): Promise<void> {
    throwIfAborted(signal);
    for (const key of keys) assertKey(key);
    try {
      const full = keys.map((key) => this.#root + key);
      await deleteObjects(this.#client, full, signal);
    } catch (error) {
      throwIfAborted(signal);
      throw withErrorContext(error, this.description);
    }
  }

  listRuns({ signal }: StoreOptions = {}): ReadableStream<ListedRun> {
    return streamFrom(this.#runs(signal));
  }

  listUploads(prefix: string, { signal }: StoreOptions = {}): ReadableStream<OpenUpload> {
    assertPrefix(prefix);
    return streamFrom(this.#uploads(prefix, signal));
  }

  async *#listed(
    prefix: string,
    isLevel: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ListedEntry> {
    const request = { prefix: this.#root + prefix, isLevel, signal };
    try {
      for await (const entry of listObjects(this.#client, request)) {
        throwIfAborted(signal);
        // Consoles create objects whose names end in a slash to represent folders.
        if ("prefix" in entry) yield { prefix: entry.prefix.slice(this.#root.length) };
        else if (isKey(entry.key) && !isReservedKey(entry.key)) {
          yield { ...entry, key: entry.key.slice(this.#root.length) };
        }
      }
    } catch (error) {
      throwIfAborted(signal);
      throw withErrorContext(error, this.description, prefix);
    }
  }

  async *#runs(signal: AbortSignal | undefined): AsyncGenerator<ListedRun> {
    const request = { prefix: this.#root, isLevel: false, signal };
    try {
      for await (const entry of listObjects(this.#client, request)) {
        if ("key" in entry && isKey(entry.key) && entry.key.endsWith(`/${LOCK_NAME}`)) {
          yield { key: entry.key.slice(this.#root.length) };
        }
      }
    } catch (error) {
      throwIfAborted(signal);
      throw withErrorContext(error, this.description);
    }
  }

  async *#uploads(prefix: string, signal: AbortSignal | undefined): AsyncGenerator<OpenUpload> {
    try {
      for await (const { key, id, begun } of listUploads(this.#client, this.#root + prefix, signal)) {
        const hint = `Run \`aws s3api abort-multipart-upload --bucket ${this.#bucket} --key ${quoted(key)} --upload-id ${quoted(id)}\` to end it.`;
        const giveUp = () =>
          this.#about(key, undefined, () => abortUpload(this.#client, { key, id, begun: begun.getTime() }));
        yield { key: key.slice(this.#root.length), begun, hint, giveUp };
      }
    } catch (error) {
      throwIfAborted(signal);
      throw withErrorContext(error, this.description, prefix);
    }
  }

  #about<T>(key: string, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
    return forKey({ store: this.description, key, signal }, call);
  }
}

/** Quotes text from the server as one shell word. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
