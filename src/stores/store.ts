import type { ByteRange } from "../util/byte-range.ts";
import type { ZarrflowError } from "../util/errors.ts";
import type { ReadableStream } from "../util/web-streams.ts";
import type { Neighbours } from "./neighbours.ts";
import type { Journal } from "./target/journal.ts";
import type { LeavableUpload, UploadNotes } from "./upload.ts";

export type { Neighbours, ValuePlace } from "./neighbours.ts";
export type { BegunUpload, LeavableUpload, UploadedPart, UploadNotes } from "./upload.ts";

export interface StoreOptions {
  /** Ends the call, which then fails with the signal's reason, or with `aborted`, whose cause is the reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface VersionOptions extends StoreOptions {
  /** Called with what distinguishes this state of the value from any other, where the store knows that, before the call resolves. */
  readonly onVersion?: ((version: string) => void) | undefined;
}

export interface GetOptions extends VersionOptions {
  readonly range?: ByteRange | undefined;
  /**
   * The version that the value must have, as `onVersion` got it. Stores that know no versions do not look at it.
   *
   * @throws `source-changed` where the value has another version, or is gone.
   */
  readonly ifVersion?: string | undefined;
  /**
   * The key is one, such as a chunk's, below which nobody has keys. Where a folder is in its place, the call fails with
   * `corrupt-store`: what is unreadable is not missing. Stores in which both may be there do not look at it.
   */
  readonly isLeaf?: boolean | undefined;
  /** Gives the buffer that the value is read into, once its size is known; by default a new one. */
  readonly allocate?: ((byteLength: number) => Uint8Array) | undefined;
  /**
   * Bytes that the caller can use: where nobody states the size of a value, no more is read than that, and the call fails
   * with `resource-limit`. Where it is known, `allocate` is asked first, and may throw.
   */
  readonly maxBytes?: number | undefined;
}

export interface GetSyncOptions extends GetOptions {
  /** Where to read the whole value to, in place of what `allocate` gives; one that does not fit is left to `get`. */
  readonly into?: Uint8Array | undefined;
}

/** What a call that blocks has read: no bytes where the key is missing. */
export interface SyncRead {
  readonly bytes: Uint8Array | undefined;
}

/** One key of a listing. */
export interface KeyEntry {
  readonly key: string;
  /** Size in bytes, where the listing has it. */
  readonly size?: number;
  /** The entity tag, without quotes, where the listing has it. */
  readonly etag?: string;
  /** CRC-32 of the value, where the listing has it; its store checks it whenever the value is read whole. */
  readonly crc32?: number;
}

/** One step of a directory listing: a key, or a prefix (ending in `/`) with keys below it. */
export type ListedEntry = KeyEntry | { readonly prefix: string };

export interface ListOptions extends StoreOptions {
  /** Lists keys in the order in which their values lie, where they lie one after the other, as in a zip; else in the order of names. */
  readonly asStored?: boolean | undefined;
  /**
   * Called with the key of what is there and cannot be read, or its prefix (ending in `/`) where it is a folder, and why;
   * the listing goes on without it. Where this is absent, or throws, the listing fails. Stores that look at no values when
   * they list keys never call it.
   */
  readonly onUnreadable?: ((name: string, error: ZarrflowError) => void) | undefined;
  /**
   * Called with the prefix of each folder below, which ends in `/`; the listing fails where this throws. Stores in
   * which a folder is nothing but what keys have in common never call it.
   */
  readonly onFolder?: ((prefix: string) => void) | undefined;
}

/** What opening a store noticed and went on over. */
export interface StoreFinding {
  readonly key: string;
  readonly message: string;
  /** Whether the key has several values, of which the last counts. */
  readonly isDuplicate?: boolean;
}

/**
 * Keys to bytes. Keys are relative, use `/`, never begin or end with it, and never leave the root
 * (`path-not-allowed`). A missing key is `undefined`, never an error; any other failure is an error.
 */
export interface Store {
  /** The store in words for messages: kind and place, never a credential. */
  readonly description: string;
  readonly findings?: readonly StoreFinding[];
  /** The folder of a disk in which its values lie, one file each. Absent in stores of other kinds. */
  readonly folder?: string;
  /** The value, or the part of it that `range` asks for, cut at the value's end; owned by the caller. */
  get(key: string, options?: GetOptions): Promise<Uint8Array | undefined>;
  /** Size of the value in bytes, without reading it. */
  size(key: string, options?: VersionOptions): Promise<number | undefined>;
  /**
   * What distinguishes the place, as a whole, from another that takes its name: a folder from one that replaces it, a zip
   * from one that is written over it. Undefined where nothing is there. Absent in stores that do not know.
   *
   * @throws `source-changed` where the store itself finds that it is no longer what was opened.
   */
  version?(options?: StoreOptions): Promise<string | undefined>;
  /**
   * Watches, until its end, which values are found missing, of all or of those below prefixes. Absent in stores that do not
   * know whether such values were there before.
   */
  watchMissing?(prefixes?: readonly string[]): MissingWatch;
  /** Notes in all watches that some keys below `prefix` were missing in a listing. */
  noteMissing?(prefix: string): void;
  /**
   * As `get`, done before it returns; undefined where that cannot be done, for whatever reason, a value of more than
   * `maxBytes` among them: `get` then gives the value, or the reason. Absent in stores that always have to wait.
   */
  getSync?(key: string, options?: GetSyncOptions): SyncRead | undefined;
  /** How values that lie side by side are read in one request. Absent in stores in which each value is a request. */
  readonly neighbours?: Neighbours;
  /**
   * Milliseconds since the value was written, by the clock of whoever keeps it; undefined without a value, or where that
   * is not known. Absent in stores that know no times.
   */
  ageOf?(key: string, options?: StoreOptions): Promise<number | undefined>;
  /** The comment of a zip, where it has one. */
  readonly comment?: Uint8Array | undefined;
  /** Checksums of its values. Absent in stores that keep none. */
  readonly checks?: ValueChecks;
  /** Releases handles; a store must not be used afterwards. */
  close?(): Promise<void>;
}

/**
 * Checksums that a store keeps of its values. One that is read whole is checked at once; one that is read in parts, when
 * the last part of it has been read.
 */
export interface ValueChecks {
  /** Values of which parts were read, but not all, since the store was opened: their checksums say nothing. */
  readonly unchecked: number;
  /**
   * Checks a value, of which it reads what was not read before.
   *
   * @throws `corrupt-store` where the checksum differs; as `get`.
   */
  check(key: string, options?: StoreOptions): Promise<void>;
  /** What was read in parts since this was called last, for the same store opened by another thread. */
  takeParts(): readonly ReadPart[];
  /** Adds what another thread has read. @throws `corrupt-store` where the checksum of a value differs. */
  addParts(parts: readonly ReadPart[]): void;
}

/** A part of a value that was read, with its own CRC-32. */
export interface ReadPart {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
  readonly crc32: number;
}

/** Looks, when all has been read, whether values that were found missing have been removed or added meanwhile. */
export interface MissingWatch {
  /** @throws `source-changed` where they may have been. */
  assertUnchanged(options?: StoreOptions): Promise<void>;
  end(): void;
}

/** A store that can list its keys, sorted by their UTF-8 bytes within each listing. */
export interface ListableStore extends Store {
  /** All keys that begin with `prefix`, which is empty or ends in `/`. */
  list(prefix: string, options?: ListOptions): ReadableStream<KeyEntry>;
  /** Keys and prefixes one level below `prefix`. */
  listDirectory(prefix: string, options?: ListOptions): ReadableStream<ListedEntry>;
  /** Values below `prefix` whose writing was begun, and neither ended nor given up. Absent where that leaves nothing. */
  listUploads?(prefix: string, options?: StoreOptions): ReadableStream<OpenUpload>;
  /** Locks and folders of runs that are at work anywhere in the store. Absent where it is among the keys that `list` gives. */
  listRuns?(options?: StoreOptions): ReadableStream<ListedRun>;
}

/** A lock of a run, or a folder that it has; no other listing shows it. */
export interface ListedRun {
  readonly key: string;
  /** Whether its run has not been heard of for so long that it is over; undefined for a lock, which is judged by its age. */
  readonly isDead?: boolean;
}

/** A value that is being written, or was when its writer was killed: its store keeps what came, and no listing shows it. */
export interface OpenUpload {
  readonly key: string;
  readonly begun: Date;
  /** How to be rid of it, as a sentence. */
  readonly hint: string;
  /** Gives it up. */
  giveUp?(): Promise<void>;
}

export interface WriterOptions extends StoreOptions {
  /** Bytes that the value will have, as far as they are known; it may have more or fewer. */
  readonly expectedSize?: number | undefined;
  /** Bytes that the writer may hold; by default what it needs at least. */
  readonly memory?: number | undefined;
}

/** A value being written piece by piece; nothing is visible under its key before `commit`. */
export interface StoreWriter {
  /** Resolves when the store can take more; `bytes` are the caller's again from then on. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * As `write`, done before it returns; false where that cannot be done, for whatever reason: `write` then does it, or gives
   * the reason. Absent in stores that always have to wait.
   */
  writeSync?(bytes: Uint8Array): boolean;
  commit(): Promise<void>;
  /** Leaves nothing. May be called at any time before `commit` resolves. */
  abort(reason?: unknown): Promise<void>;
}

export interface UploadOptions extends WriterOptions, UploadNotes {}

/** Writes a value in parts; another writer, also of another process, can go on where this one was left. */
export interface UploadWriter extends StoreWriter, LeavableUpload {}

/**
 * Copies a value that another store lists to the key `to`, whole or not at all, and returns its size in bytes;
 * undefined where it is gone.
 */
export type ValueCopier = (from: KeyEntry, to: string, options?: StoreOptions) => Promise<number | undefined>;

export interface WritableStore extends Store {
  /** Whether one value at a time is written (a zip, one stream); the planner then hands over encoded chunks. */
  readonly singleWriter?: boolean;
  /** Whole or not at all; `bytes` are the caller's again when it resolves. */
  set(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<void>;
  /**
   * As `set`, done before it returns; false where that cannot be done, for whatever reason: `set` then gives it. Absent
   * in stores that always have to wait.
   */
  setSync?(key: string, bytes: Uint8Array): boolean;
  /** How values of `source` get here without their bytes passing through this process; undefined where they must. */
  copierFrom?(source: Store): Promise<ValueCopier | undefined>;
  openWriter(key: string, options?: WriterOptions): Promise<StoreWriter>;
  /**
   * As `openWriter`; what was written can be left, and another writer can go on with it. Absent where nothing is kept of
   * a value before its end.
   */
  openUpload?(key: string, options?: UploadOptions): Promise<UploadWriter>;
  /**
   * As `set` where nothing is at the key; else it leaves what is there, and is false. Of several at once one wins.
   * Absent in stores that do not know.
   */
  setIfAbsent?(key: string, bytes: Uint8Array, options?: StoreOptions): Promise<boolean>;
  /** Removing an absent key succeeds. */
  delete(key: string, options?: StoreOptions): Promise<void>;
  /** As `delete` for each key. Absent in stores that remove one at a time. */
  deleteMany?(keys: readonly string[], options?: StoreOptions): Promise<void>;
  /**
   * Moves the value at a key, or all values below a prefix, at once: nobody sees a part of them at either place. Both
   * names are keys, or both end in `/`; neither lies below the other. Where there is nothing to move, nothing happens.
   * Absent in stores whose values can only be written again.
   *
   * @throws `target-exists` when something is at `to`.
   */
  rename?(from: string, to: string, options?: StoreOptions): Promise<void>;
}

export function isListable(store: Store): store is ListableStore {
  return "list" in store && "listDirectory" in store;
}

export function isWritable(store: Store): store is WritableStore {
  return "set" in store && "openWriter" in store;
}

/** How often, and for how long, a server is asked by each call of a store that is opened by a URL or a spec. */
export interface AccessRetry {
  /**
   * How often a request is made in all, where it fails temporarily.
   *
   * @default 9, but not later than 3 s after the first failure of a server that has not answered yet, or 15 s of one that
   *   has only failed, and in the minute after its first success. Later all 9 are made, within 46 s of pauses. A server that names a time
   *   (`Retry-After`) is asked again when that is over, as often.
   */
  readonly attempts?: number | undefined;
  /**
   * How long the server may be silent, before and amid its answer, in seconds or as `20s`.
   *
   * @default 30
   */
  readonly timeout?: number | string | undefined;
}

/** A store as JSON, without credentials, so that another process opens the same one. */
export type StoreSpec =
  | {
      readonly kind: "directory";
      readonly path: string;
      /** What is written is on the disk, and outlives a loss of power, before the call resolves. */
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
      /** Without a query, which lets others in as a credential does. */
      readonly url: string;
      readonly missing403?: boolean;
      readonly retry?: AccessRetry;
      /** The URL had a query, without which the server is not asked. */
      readonly hasQuery?: boolean;
      /** Requests had headers of the caller's, without which the server is not asked. */
      readonly hasHeaders?: boolean;
    }
  /** A prefix of a bucket; the environment says how it is reached. */
  | {
      readonly kind: "s3";
      readonly bucket: string;
      readonly prefix: string;
      /** Requests are not signed. */
      readonly anonymous?: boolean;
      /** A 403 stands for a missing key. */
      readonly missing403?: boolean;
      readonly retry?: AccessRetry;
    }
  /** An object of the caller's; it cannot be opened elsewhere. */
  | { readonly kind: "object"; readonly description: string };

/** A value that was stored. */
export interface StoredValue {
  readonly key: string;
  /** In bytes. */
  readonly size: number;
  /** Absent where checksums were not asked for. */
  readonly crc32?: number;
}

export interface PublishOptions extends StoreOptions {
  /** Called with what could not be removed after the target was published, which stands all the same. */
  readonly onWarning?: ((warning: { readonly message: string; readonly hint: string }) => void) | undefined;
}

/**
 * A target while it is being built: nobody reads `store` before `publish`, which makes it appear whole under its
 * name; `discard` leaves the place as it was.
 */
export interface TargetBuild {
  readonly store: WritableStore & Partial<ListableStore>;
  /** A folder of this run beside the target; removed by publish and discard. Absent for targets that are no files. */
  readonly controlFolder?: string;
  /** Where the run leaves what it has done, for one that resumes it. Absent where none can. */
  readonly journal?: Journal;
  /**
   * Present where the build is one that an earlier run left unfinished: whether it holds a value as that run recorded it.
   */
  holds?(value: StoredValue, options?: StoreOptions): Promise<boolean>;
  /**
   * The build as a spec, where other threads may open and write the same one, as its `exclusive` owners. Absent
   * where there is one writer.
   */
  readonly spec?: StoreSpec;
  /** Whether values lie where they will stay from when they are written, so that documents alone hide them. */
  readonly isInPlace?: boolean;
  /** Aborted when another run has taken the place over: nothing may be written from then on. */
  readonly lost?: AbortSignal;
  /** Holds that no other run has taken the place over, as `publish` does unless it was asked just before. @throws `locked` */
  assertHeld?(options?: StoreOptions): Promise<void>;
  /** Opens what was written, for reading it back before it is published; a zip takes no more values from then on. */
  reopen(): Promise<Store>;
  publish(options?: PublishOptions): Promise<void>;
  /** Leaves what was built, with its journal, to a run that resumes this one. Absent where none can. */
  keep?(): Promise<void>;
  /** Does nothing once the target is published. */
  discard(): Promise<void>;
}
