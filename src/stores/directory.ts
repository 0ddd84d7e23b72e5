import { resolve } from "node:path";
import { throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { folderOf } from "../util/node-path.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import type { ReadableStream } from "../util/web-streams.ts";
import { DirectoryTree } from "./directory/directory-tree.ts";
import { FileLookup } from "./directory/file-lookup.ts";
import { DirectoryListings } from "./directory/listing.ts";
import { fileAge, writeNewFile } from "./directory/lock-file.ts";
import { FolderWatch, noteMissingBelow } from "./directory/missing-values.ts";
import { replaceValueSync, writeValueSync } from "./directory/sync-values.ts";
import {
  copyFile,
  isMovable,
  moveTo,
  openFileWriter,
  replaceFile,
  type ValueFiles,
  writeFile,
} from "./directory/value-file.ts";
import { asyncFileCalls, type FileCalls } from "./files/file-calls.ts";
import { fileError, hasSystemCode, isMissing } from "./files/file-error.ts";
import { fileVersion } from "./files/file-reader.ts";
import { processTag } from "./files/process-record.node.ts";
import { assertKey, assertPrefix, assertRename } from "./key.ts";
import { assertNotOwn, temporaryName } from "./reserved-names.ts";
import type {
  GetOptions,
  GetSyncOptions,
  KeyEntry,
  ListableStore,
  ListedEntry,
  ListedRun,
  ListOptions,
  Store,
  StoreOptions,
  StoreWriter,
  SyncRead,
  ValueCopier,
  VersionOptions,
  WritableStore,
} from "./store.ts";
import { markNativeStore } from "./store-traits.ts";
import { serialized } from "./writer.ts";

export interface DirectoryStoreOptions {
  /**
   * True if only this run uses the folder until it is published: `set` writes values in place, without a temporary
   * file, and symbolic links are not checked.
   *
   * @default false
   */
  readonly exclusive?: boolean | undefined;
  /**
   * True if others also write to the folder, until one of them moves or removes it. A missing folder is not
   * created, so that writing fails from then on.
   *
   * @default false
   */
  readonly shared?: boolean | undefined;
  /**
   * Flushes data to the disk before a call resolves, so that it survives a loss of power. Takes several times as
   * long.
   *
   * @default false
   */
  readonly fsync?: boolean | undefined;
  /** Describes the store in messages. */
  readonly description?: string | undefined;
  /** @default asyncFileCalls */
  readonly files?: FileCalls | undefined;
}

const DIRECTORY_OPTIONS: OptionNames<DirectoryStoreOptions> = {
  exclusive: true,
  shared: true,
  fsync: true,
  description: true,
  files: true,
};

/** Number of attempts to write a value if others keep removing its folder. */
const ATTEMPTS = 5;

/**
 * Files below a folder. Keys are their relative paths, flat (`t2m/0.0`) or nested (`t2m/c/0/0`). Symbolic links
 * may point anywhere inside the folder; links to outside are rejected with `path-not-allowed`. A broken link, a
 * pipe, a socket or a device is not a missing key: reading or listing it fails with `corrupt-store`. An empty
 * folder that another program left is listed as a prefix.
 *
 * All methods throw `access-denied`, `no-space`, `too-many-files` and `transient` when calls of the system fail.
 *
 * @example
 * ```ts
 * import { DirectoryStore } from "zarrflow/stores/directory";
 *
 * const store = new DirectoryStore("era5.zarr");
 * for await (const { key } of store.list("t2m/")) console.log(key);
 * ```
 */
export class DirectoryStore implements ListableStore, WritableStore {
  static {
    markNativeStore(DirectoryStore.prototype);
  }

  readonly description: string;
  readonly folder: string;
  readonly #files: FileCalls;
  readonly #folders: DirectoryTree;
  readonly #found: FileLookup;
  readonly #listings: DirectoryListings;
  readonly #exclusive: boolean;
  readonly #written: ValueFiles;
  readonly getSync?: (key: string, options?: GetSyncOptions) => SyncRead | undefined;
  readonly setSync?: (key: string, bytes: Uint8Array) => boolean;

  constructor(root: string, options: DirectoryStoreOptions = {}) {
    assertKnown(options, DIRECTORY_OPTIONS);
    const {
      exclusive = false,
      shared = false,
      fsync = false,
      description = `directory ${root}`,
      files,
    } = options;
    this.description = description;
    this.folder = resolve(root);
    this.#files = files ?? asyncFileCalls;
    this.#folders = new DirectoryTree(this.folder, { files: this.#files, fsync, isMade: shared });
    this.#found = new FileLookup(this.#folders, { files: this.#files, exclusive });
    const failure = (error: unknown, key: string | undefined) => this.#error(error, key);
    this.#listings = new DirectoryListings({ folders: this.#folders, files: this.#files, failure });
    this.#exclusive = exclusive;
    this.#written = { files: this.#files, fsync };
    if (files !== undefined) return;
    if (this.#found.canReadSync) {
      this.getSync = (key, options = {}) => {
        this.#check(key, options.signal);
        return this.#found.readSync(key, options);
      };
    }
    if (!fsync) this.setSync = (key, bytes) => this.#writeSync(key, bytes);
  }

  async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    this.#check(key, options.signal);
    return this.#attempt(key, () => this.#found.read(key, options));
  }

  async size(key: string, { signal, onVersion }: VersionOptions = {}): Promise<number | undefined> {
    this.#check(key, signal);
    const info = (await this.#find(key))?.info;
    if (info) onVersion?.(fileVersion(info));
    return info?.size;
  }

  /** Identifies the folder, so that one that replaces it is noticed; undefined without a folder. */
  async version({ signal }: StoreOptions = {}): Promise<string | undefined> {
    throwIfAborted(signal);
    return this.#attempt(undefined, () => this.#folders.version());
  }

  /** Watches the folders in which any store finds values missing. */
  watchMissing(prefixes: readonly string[] = [""]): FolderWatch {
    for (const prefix of prefixes) assertPrefix(prefix);
    const folders = prefixes.map((prefix) => this.#folders.pathOf(prefix.slice(0, -1)));
    return new FolderWatch(this.folder, { folders });
  }

  noteMissing(prefix: string): void {
    assertPrefix(prefix);
    noteMissingBelow(this.#folders.pathOf(prefix.slice(0, -1)));
  }

  list(prefix: string, options: ListOptions = {}): ReadableStream<KeyEntry> {
    return this.#listings.keys(prefix, options);
  }

  listDirectory(prefix: string, options: ListOptions = {}): ReadableStream<ListedEntry> {
    return this.#listings.level(prefix, options);
  }

  listRuns(options: StoreOptions = {}): ReadableStream<ListedRun> {
    return this.#listings.runs(options);
  }

  async set(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<void> {
    this.#check(key, signal);
    const path = this.#folders.pathOf(key);
    await this.#inFolder(key, () =>
      this.#exclusive
        ? writeFile(this.#written, path, bytes)
        : replaceFile(this.#written, this.#temporary(key), path, bytes),
    );
  }

  async setIfAbsent(key: string, bytes: Uint8Array, { signal }: StoreOptions = {}): Promise<boolean> {
    this.#check(key, signal);
    return this.#inFolder(key, () => writeNewFile(this.#written, this.#folders.pathOf(key), bytes));
  }

  async ageOf(key: string, { signal }: StoreOptions = {}): Promise<number | undefined> {
    this.#check(key, signal);
    return this.#attempt(key, () => fileAge(this.#files, this.#folders.pathOf(key), this.#temporary(key)));
  }

  /** Lets the file system copy values of another folder. */
  async copierFrom(source: Store): Promise<ValueCopier | undefined> {
    if (!(source instanceof DirectoryStore)) return undefined;
    return async ({ key }, to, { signal } = {}) => {
      source.#check(key, signal);
      this.#check(to, signal);
      const original = await source.#find(key);
      if (original === undefined) return undefined;
      const temporary = this.#exclusive ? undefined : this.#temporary(to);
      const copy = () => copyFile(this.#written, original.path, this.#folders.pathOf(to), temporary);
      return this.#inFolder(to, copy);
    };
  }

  async openWriter(key: string, { signal }: StoreOptions = {}): Promise<StoreWriter> {
    this.#check(key, signal);
    const writer = await this.#inFolder(key, () =>
      openFileWriter(this.#written, this.#temporary(key), this.#folders.pathOf(key)),
    );
    const attempt = (step: () => Promise<void>) => this.#attempt(key, step);
    return serialized(
      {
        write: (bytes) => attempt(() => writer.write(bytes)),
        ...(writer.writeSync && { writeSync: writer.writeSync }),
        commit: () =>
          attempt(async () => {
            await writer.commit();
            await this.#folders.sync(folderOf(key));
          }),
        abort: async () => {
          await attempt(() => writer.abort());
          await this.#folders.prune(folderOf(key));
        },
      },
      key,
      signal,
    );
  }

  /** Also removes the folders that become empty. */
  async delete(key: string, { signal }: StoreOptions = {}): Promise<void> {
    this.#check(key, signal);
    try {
      if (!(await this.#found.isReachable(key))) return;
      await this.#files.unlink(this.#folders.pathOf(key));
    } catch (error) {
      if (isMissing(error)) return;
      throw this.#error(error, key);
    }
    await this.#folders.prune(folderOf(key));
  }

  /** Renames a file or a folder with one call; folders that become empty are removed. */
  async rename(from: string, to: string, { signal }: StoreOptions = {}): Promise<void> {
    assertRename(from, to);
    const [old, next] = [from, to].map((name) => name.replace(/\/$/, "")) as [string, string];
    for (const key of [old, next]) this.#check(key, signal);
    if (!(await this.#holds(old, from === old ? "file" : "folder"))) return;
    await this.#inFolder(next, () =>
      moveTo(this.#files, this.#folders.pathOf(old), this.#folders.pathOf(next)),
    );
    this.#folders.forget();
    await this.#folders.prune(folderOf(old));
  }

  #holds(key: string, kind: "file" | "folder"): Promise<boolean> {
    const isAt = () => isMovable(this.#files, this.#folders.pathOf(key), kind);
    return this.#attempt(key, async () => (await this.#found.isReachable(key)) && isAt());
  }

  #find(key: string): ReturnType<FileLookup["find"]> {
    return this.#attempt(key, () => this.#found.find(key));
  }

  #check(key: string, signal: AbortSignal | undefined): void {
    throwIfAborted(signal);
    assertKey(key);
    assertNotOwn(key);
  }

  #writeSync(key: string, bytes: Uint8Array): boolean {
    this.#check(key, undefined);
    if (!this.#folders.makeSync(folderOf(key))) return false;
    const path = this.#folders.pathOf(key);
    return this.#exclusive
      ? writeValueSync(path, bytes)
      : replaceValueSync(this.#temporary(key), path, bytes);
  }

  /** Writes to the folder of `key`, which is created if it is missing. */
  async #inFolder<T>(key: string, write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#folders.make(folderOf(key));
        const answer = await write();
        await this.#folders.sync(folderOf(key));
        return answer;
      } catch (error) {
        if (!hasSystemCode(error, "ENOENT") || attempt === ATTEMPTS) throw this.#error(error, key);
        this.#folders.forget();
      }
    }
  }

  #temporary(key: string): string {
    const folder = folderOf(key);
    const name = temporaryName(processTag());
    return this.#folders.pathOf(folder === "" ? name : `${folder}/${name}`);
  }

  /** Runs a step and adds the store and the key to its error. */
  async #attempt<T>(key: string | undefined, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      throw this.#error(error, key);
    }
  }

  #error(error: unknown, key: string | undefined): unknown {
    const details = { ...(key !== undefined && { key }), store: this.description };
    return error instanceof ZarrflowError ? error.addContext(details) : fileError(error, details);
  }
}
