import type { ByteRange } from "../util/byte-range.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ReadableStream } from "../util/web-streams.ts";

export interface StoreOptions {
  /** Aborts the call, which then fails with the signal's reason, or with `aborted` and the reason as its cause. */
  readonly signal?: AbortSignal | undefined;
}

export interface VersionOptions extends StoreOptions {
  /**
   * Called before the call resolves with the version of the value, which differs for each state of the value. Not
   * called by stores that have no versions.
   */
  readonly onVersion?: ((version: string) => void) | undefined;
}

export interface GetOptions extends VersionOptions {
  readonly range?: ByteRange | undefined;
  /**
   * Version that the value must have, as passed to `onVersion`. Stores without versions ignore it.
   *
   * @throws `source-changed` if the value has another version or is gone.
   */
  readonly ifVersion?: string | undefined;
  /**
   * True if no keys can exist below this key, such as a chunk's. A folder in its place then fails with
   * `corrupt-store`, because an unreadable value is not a missing one. Stores in which both may exist ignore it.
   */
  readonly isLeaf?: boolean | undefined;
  /** Returns the buffer to read the value into, once its size is known. By default, a new one. */
  readonly allocate?: ((byteLength: number) => Uint8Array) | undefined;
  /**
   * Maximum number of bytes that the caller can use. If the size of a value is unknown, reading stops there, and the
   * call fails with `resource-limit`. If the size is known, `allocate` is called first, and may throw.
   */
  readonly maxBytes?: number | undefined;
}

export interface GetSyncOptions extends GetOptions {
  /** Buffer for the whole value, in place of one from `allocate`. A value of another size is left to `get`. */
  readonly into?: Uint8Array | undefined;
}

/** Result of a synchronous read; `bytes` are undefined if the key is missing. */
export interface SyncRead {
  readonly bytes: Uint8Array | undefined;
}

/** A key in a listing. */
export interface KeyEntry {
  readonly key: string;
  /** Size in bytes, if the listing contains it. */
  readonly size?: number;
  /** Entity tag without quotes, if the listing contains it. */
  readonly etag?: string;
  /** CRC-32 of the value, if the listing contains it. The store checks it whenever the value is read whole. */
  readonly crc32?: number;
}

/** An entry of a directory listing: a key, or a prefix (ending in `/`) with keys below it. */
export type ListedEntry = KeyEntry | { readonly prefix: string };

export interface ListOptions extends StoreOptions {
  /**
   * Lists keys in the order of their values in storage, in stores that have one, such as a zip. Otherwise
   * keys are sorted.
   */
  readonly asStored?: boolean | undefined;
  /**
   * Called for each entry that exists but cannot be read, with its key, or its prefix (ending in `/`) if it is a
   * folder, and the reason. The listing continues without it. If this is absent or throws, the listing fails.
   * Stores that do not look at values to list keys never call it.
   */
  readonly onUnreadable?: ((name: string, error: ZarrflowError) => void) | undefined;
  /**
   * Called with the prefix of each folder below, ending in `/`; if it throws, the listing fails. Never called by
   * stores in which folders are only common prefixes of keys.
   */
  readonly onFolder?: ((prefix: string) => void) | undefined;
}

/** A problem that was noticed, but did not prevent opening the store. */
export interface StoreFinding {
  readonly key: string;
  readonly message: string;
  /** True if the key has several values; the last one is used. */
  readonly isDuplicate?: boolean;
}

/**
 * A map from keys to bytes. Keys are relative, use `/`, do not begin or end with it, and never leave the root
 * (`path-not-allowed`). A missing key is `undefined`, never an error; every other failure is an error.
 */
export interface Store {
  /** Kind and place of the store for messages, never a credential. */
  readonly description: string;
  readonly findings?: readonly StoreFinding[];
  /** Folder of the disk that contains its values as files. Absent in other stores. */
  readonly folder?: string;
  /** Returns the value, or the part that `range` selects, cut at the value's end. The caller owns the bytes. */
  get(key: string, options?: GetOptions): Promise<Uint8Array | undefined>;
  /** Returns the size of the value in bytes, without reading the value. */
  size(key: string, options?: VersionOptions): Promise<number | undefined>;
  /**
   * Returns a version of the whole place, to detect a replacement: another folder under the same name, or a zip
   * that was overwritten. Undefined if nothing is there. Absent in stores without such a version.
   *
   * @throws `source-changed` if the store itself notices that it is no longer what was opened.
   */
  version?(options?: StoreOptions): Promise<string | undefined>;
  /**
   * Starts to watch which values are found missing, in the whole store or below prefixes. Absent in stores that
   * cannot detect that such values were there before.
   */
  watchMissing?(prefixes?: readonly string[]): MissingWatch;
  /** Reports to all watches that a listing lacked keys below `prefix`. */
  noteMissing?(prefix: string): void;
  /**
   * Like `get`, but finished when it returns. Returns undefined if that is not possible for any reason, such as a
   * value of more than `maxBytes`; `get` then returns the value or throws the error. Absent in stores that always
   * have to wait.
   */
  getSync?(key: string, options?: GetSyncOptions): SyncRead | undefined;
  /** Reads adjacent values in one request. Absent in stores in which each value needs its own request. */
  readonly adjacentReads?: AdjacentReads;
  /**
   * Returns the milliseconds since the value was written, by the clock of the storage. Undefined if there is no
   * value, or the time is unknown. Absent in stores without times.
   */
  ageOf?(key: string, options?: StoreOptions): Promise<number | undefined>;
  /** Comment of a zip, if it has one. */
  readonly comment?: Uint8Array | undefined;
  /** Checksums of the store's values. Absent in stores that have none. */
  readonly checks?: ValueChecks;
  /** Releases handles. The store must not be used afterwards. */
  close?(): Promise<void>;
}

/**
 * Checksums of a store's values. A value that is read whole is checked immediately; a value that is read in parts, when
 * its last part has been read.
 */
export interface ValueChecks {
  /** Number of values that were read in part only since the store was opened. Their checksums were not checked. */
  readonly unchecked: number;
  /**
   * Checks a value, reading the parts of it that were not read before.
   *
   * @throws `corrupt-store` if the checksum differs; as `get`.
   */
  check(key: string, options?: StoreOptions): Promise<void>;
  /** Returns the parts that were read since the last call, to pass to the same store in another thread. */
  takeParts(): readonly ReadPart[];
  /** Adds parts that another thread read. @throws `corrupt-store` if the checksum of a value differs. */
  addParts(parts: readonly ReadPart[]): void;
}

/** A part of a value that was read, with the CRC-32 of that part. */
export interface ReadPart {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
  readonly crc32: number;
}

/** Detects, after everything is read, whether missing values have been removed or added in the meantime. */
export interface MissingWatch {
  /** @throws `source-changed` if missing values may have been removed or added. */
  assertUnchanged(options?: StoreOptions): Promise<void>;
  end(): void;
}

/** A store that can list its keys. Each listing is sorted by UTF-8 bytes. */
export interface ListableStore extends Store {
  /** Lists all keys that begin with `prefix`, which is empty or ends in `/`. */
  list(prefix: string, options?: ListOptions): ReadableStream<KeyEntry>;
  /** Lists keys and prefixes one level below `prefix`. */
  listDirectory(prefix: string, options?: ListOptions): ReadableStream<ListedEntry>;
  /**
   * Lists unfinished uploads below `prefix`, neither committed nor aborted. Absent if such uploads leave no
   * parts.
   */
  listUploads?(prefix: string, options?: StoreOptions): ReadableStream<OpenUpload>;
  /** Lists locks and folders of runs anywhere in the store. Absent if `list` contains them. */
  listRuns?(options?: StoreOptions): ReadableStream<ListedRun>;
}

/** A lock or a folder of a run, which other listings leave out. */
export interface ListedRun {
  readonly key: string;
  /**
   * True if the run has not renewed its record for so long that it counts as ended; undefined for a lock, whose age
   * decides.
   */
  readonly isDead?: boolean;
}

/**
 * A value that is being written, or whose writer was killed. The store keeps the bytes that arrived, and listings
 * leave it out.
 */
export interface OpenUpload {
  readonly key: string;
  readonly begun: Date;
  /** A sentence that says how to remove it. */
  readonly hint: string;
  /** Aborts the upload. */
  giveUp?(): Promise<void>;
}

export interface WriterOptions extends StoreOptions {
  /** Expected size of the value in bytes, if known. The value may turn out larger or smaller. */
  readonly expectedSize?: number | undefined;
  /** Bytes that the writer may hold in memory; by default the least that it needs. */
  readonly memory?: number | undefined;
}

/** A value that is written piece by piece. It becomes visible under its key at `commit`. */
export interface StoreWriter {
  /** Resolves when the store can take more; the caller may then reuse `bytes`. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Like `write`, but finished when it returns. Returns false if that is not possible for any reason; `write` then
   * writes the bytes or throws the error. Absent in stores that always have to wait.
   */
  writeSync?(bytes: Uint8Array): boolean;
  commit(): Promise<void>;
  /** Discards what was written. May be called at any time before `commit` resolves. */
  abort(reason?: unknown): Promise<void>;
}

export interface UploadOptions extends WriterOptions, UploadNotes {}

/** Writes a value in parts. Another writer, even of another process, can continue where this one stopped. */
export interface UploadWriter extends StoreWriter, PausableUpload {}

/**
 * Copies a listed value of another store to the key `to`, completely or not at all. Returns its size in bytes, or
 * undefined if it is gone.
 */
export type ValueCopier = (from: KeyEntry, to: string, options?: StoreOptions) => Promise<number | undefined>;

export interface WritableStore extends Store {
  /**
   * True if only one value at a time can be written, as in a zip or a stream. The planner then passes encoded
   * chunks to one writer.
   */
  readonly singleWriter?: boolean;
  /** Writes a value, completely or not at all. The caller may reuse `bytes` when it resolves. */
  set(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<void>;
  /**
   * Like `set`, but finished when it returns. Returns false if that is not possible for any reason; `set` then
   * writes the value or throws the error. Absent in stores that always have to wait.
   */
  setSync?(key: string, bytes: Uint8Array): boolean;
  /**
   * Returns a function that copies values of `source` without passing their bytes through this process; undefined
   * if that is not possible.
   */
  copierFrom?(source: Store): Promise<ValueCopier | undefined>;
  openWriter(key: string, options?: WriterOptions): Promise<StoreWriter>;
  /**
   * Like `openWriter`, but a writer can leave what it has written, and another can continue. Absent in stores that
   * keep nothing of an unfinished value.
   */
  openUpload?(key: string, options?: UploadOptions): Promise<UploadWriter>;
  /**
   * Like `set` if the key is missing; otherwise it changes nothing and returns false. If several callers try at
   * once, one succeeds. Absent in stores that cannot do this atomically.
   */
  setIfAbsent?(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<boolean>;
  /** Removes a key. Succeeds if the key is missing. */
  delete(key: string, options?: StoreOptions): Promise<void>;
  /** Like `delete` for each key. Absent in stores that remove one key at a time. */
  deleteMany?(keys: readonly string[], options?: StoreOptions): Promise<void>;
  /**
   * Moves the value of a key, or all values below a prefix, atomically. Both names are keys, or both end in `/`;
   * neither may be below the other. If there is nothing to move, nothing happens. Absent in stores that cannot
   * move values.
   *
   * @throws `target-exists` if something exists at `to`.
   */
  rename?(from: string, to: string, options?: StoreOptions): Promise<void>;
}

export function isListable(store: Store): store is ListableStore {
  return "list" in store && "listDirectory" in store;
}

export function isWritable(store: Store): store is WritableStore {
  return "set" in store && "openWriter" in store;
}

/** Limits on attempts and waiting time for each call of a store that is opened by a URL or a spec. */
export interface AccessRetry {
  /**
   * Number of attempts in all, for requests that fail transiently.
   *
   * @default 9, but at first retries also end after a time: 3 s for a server that has not answered yet, 15 s for
   *   one that has only failed or first succeeded less than a minute ago. Later all 9 attempts are made, with up to
   *   46 s of pauses. A server that names a time (`Retry-After`) is retried after it, up to 9 attempts.
   */
  readonly attempts?: number | undefined;
  /**
   * Longest silence of the server, before and during its answer, in seconds or as `20s`.
   *
   * @default 30
   */
  readonly timeout?: number | string | undefined;
}

/** A store as JSON, without credentials, for another process to open. */
export type StoreSpec =
  | {
      readonly kind: "directory";
      readonly path: string;
      /** Flushes data to the disk before a call resolves, so that it survives a loss of power. */
      readonly fsync?: boolean;
      /** See `DirectoryStoreOptions`. */
      readonly shared?: boolean;
    }
  | { readonly kind: "zip"; readonly path: string }
  /** A zip that is a value of another store. */
  | { readonly kind: "zip-value"; readonly store: StoreSpec; readonly key: string }
  | { readonly kind: "memory"; readonly name: string }
  /** A web server, read only. */
  | {
      readonly kind: "http";
      /** Without its query, which can be a secret. */
      readonly url: string;
      readonly missing403?: boolean;
      readonly retry?: AccessRetry;
      /** True if the URL had a query, without which no request is made. */
      readonly hasQuery?: boolean;
      /** True if the caller set headers, without which no request is made. */
      readonly hasHeaders?: boolean;
    }
  /** A prefix of a bucket. The environment determines how it is reached. */
  | {
      readonly kind: "s3";
      readonly bucket: string;
      readonly prefix: string;
      /** True if requests are not signed. */
      readonly anonymous?: boolean;
      /** True if a 403 means a missing key. */
      readonly missing403?: boolean;
      readonly retry?: AccessRetry;
    }
  /** An object of the caller, which cannot be opened elsewhere. */
  | { readonly kind: "object"; readonly description: string };

/** A value that a run has stored. */
export interface StoredValue {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Absent if checksums were not requested. */
  readonly crc32?: number;
}

export interface PublishOptions extends StoreOptions {
  /** Called for each thing that could not be removed after publishing. The target is published nevertheless. */
  readonly onWarning?: ((warning: { readonly message: string; readonly hint: string }) => void) | undefined;
}

/**
 * A target that is being built. Nobody reads `store` before `publish`, which makes the complete target appear
 * under its name; `discard` leaves the place as it was.
 */
export interface TargetBuild {
  readonly store: WritableStore & Partial<ListableStore>;
  /**
   * Folder of this run beside the target; publish and discard remove it. Absent for targets that are not files.
   */
  readonly controlFolder?: string;
  /** Record of the run's progress, for a run that resumes it. Absent if none can. */
  readonly journal?: Journal;
  /**
   * Returns true if the build contains a value as an earlier run recorded it. Present if that run left the build
   * unfinished.
   */
  readonly hasValue?: (value: StoredValue, options?: StoreOptions) => Promise<boolean>;
  /**
   * Spec by which other threads can open and write the same build, as `exclusive` owners. Absent if there is a
   * single writer.
   */
  readonly spec?: StoreSpec;
  /** True if values are written directly to their final place, so that only the missing documents hide them. */
  readonly isInPlace?: boolean;
  /** Aborted when another run has taken the place over: nothing may be written from then on. */
  readonly lockLost?: AbortSignal;
  /**
   * Checks that no other run has taken the place over. `publish` does so too, unless this was called just before.
   * @throws `locked`
   */
  assertHeld?(options?: StoreOptions): Promise<void>;
  /** Opens the written values, to read them before they are published. A zip takes no more values from then on. */
  reopen(): Promise<Store>;
  publish(options?: PublishOptions): Promise<void>;
  /** Leaves the build and its journal to a run that resumes this one. Absent if none can. */
  keep?(): Promise<void>;
  /** Has no effect once the target is published. */
  discard(): Promise<void>;
}

/** A part of a value that a store has received. */
export interface UploadedPart {
  /** 1 for the first part of the value. */
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  /** Identifier of the part's contents, as the store returned it. */
  readonly tag: string;
}

/** A multipart upload that was started. */
export interface BegunUpload {
  readonly id: string;
  /** The parts that are known to be uploaded, from number 1 on. */
  readonly parts: readonly UploadedPart[];
}

/** The state from which an upload continues, and callbacks that record its progress. */
export interface UploadNotes {
  /** The upload to continue. Its first parts are kept if the store has them exactly as given here. */
  readonly begun?: BegunUpload | undefined;
  /** Called when an upload has started, before any of its parts is sent. */
  readonly onBegun?: ((id: string) => void) | undefined;
  /** Called with each part that the store has received, in any order. */
  readonly onPart?: ((part: UploadedPart) => void) | undefined;
}

/** An upload that can be left for another writer. */
export interface PausableUpload {
  /** The parts of `begun` that are kept: writing continues after their bytes. */
  readonly kept: readonly UploadedPart[];
  /** Stops writing and leaves the parts that the store has. Resolves when no part is in flight. */
  leave(): Promise<void>;
}

/** Values that are adjacent in one remote object, such as the entries of a zip in S3. */
export interface AdjacentReads {
  /** Returns the place of a value in the object, as known before it is read; undefined for a value elsewhere. */
  placeOf(key: string): ValuePlace | undefined;
  /**
   * Reads a part of the object in one request. Afterwards `get` takes values that are completely in that part from
   * it. The function that it returns ends this; the caller may then reuse the buffer.
   *
   * @throws as `get`, if the object cannot be read.
   */
  hold(
    part: Uint8Array,
    offset: number,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<() => void>;
}

/** Place of a value in an object that contains many, in bytes, with the record around it. */
export interface ValuePlace {
  readonly offset: number;
  readonly length: number;
  /** Bytes that `get` allocates for the value. */
  readonly bytesTaken: number;
}

/** Makes the error for a value with more bytes than a caller can use. */
export type TooLarge = (found: number, limit: number) => ZarrflowError;

/**
 * Reads a value of bounded size; undefined if the key is missing. The size is checked before memory is allocated.
 *
 * @throws `resource-limit`, as made by `tooLarge`, and the errors of the store.
 */
export async function valueAtMost(
  store: Pick<Store, "get">,
  key: string,
  limit: number,
  { tooLarge = anyTooLarge, ...options }: GetOptions & { readonly tooLarge?: TooLarge } = {},
): Promise<Uint8Array | undefined> {
  const check = (size: number) => {
    if (size > limit) throw tooLarge(size, limit).addContext({ key });
  };
  const allocate = (byteLength: number) => {
    check(byteLength);
    return new Uint8Array(byteLength);
  };
  const bytes = await store.get(key, { ...options, allocate, maxBytes: limit });
  check(bytes?.length ?? 0);
  return bytes;
}

function anyTooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the value is too large", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}

/** Lines of text in which a run records its progress beside its target, until the target is published. */
export interface Journal {
  /** Place of the journal, for messages. */
  readonly description: string;
  /**
   * Identifies the current boot of the machine, if the system has such an identifier: unflushed data may be lost
   * at the next boot.
   */
  readonly boot: string | undefined;
  /**
   * True if written data survives a reboot of this machine as soon as the call resolves, because it is stored
   * elsewhere.
   */
  readonly isDurable?: boolean;
  /** Returns the lines as they were added, without incomplete or altered ones. */
  lines(): AsyncIterable<string>;
  /**
   * Appends a line, given without its line break.
   *
   * @throws the error that prevents storing it, or prevented storing an earlier line.
   */
  append(line: string): void;
  /** Resolves when all added lines are stored. */
  flush(): Promise<void>;
  /** Ends writing. */
  close(): Promise<void>;
}

export interface LockOptions extends StoreOptions {
  /** Takes the place even if another run holds its lock. */
  readonly breakLock?: boolean | undefined;
}
