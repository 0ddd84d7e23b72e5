import { constants } from "node:fs";
import { throwIfAborted } from "../../util/abort.ts";
import { resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { folderOf } from "../../util/node-path.ts";
import { type FileCalls, type FileStats, readFully } from "../files/file-calls.ts";
import { hasSystemCode, isMissing } from "../files/file-error.ts";
import { fileVersion } from "../files/file-reader.ts";
import { isNamedDocument } from "../key.ts";
import type { GetOptions, GetSyncOptions, SyncRead } from "../store.ts";
import { assertMissing, assertVersion, folderInPlace } from "../version.ts";
import { assertFileOrFolder, type DirectoryTree } from "./directory-tree.ts";
import { isWatched, noteMissing } from "./missing-values.ts";
import { readIntoSync, readValueSync } from "./sync-values.ts";

/** Makes `open` fail on a symbolic link. Absent on Windows, where every path is resolved first. */
const NO_LINK: number | undefined = constants.O_NOFOLLOW;
/** Opens for reading, without waiting for the other end of a pipe. */
const READ = constants.O_RDONLY | (NO_LINK ?? 0) | (constants.O_NONBLOCK ?? 0);

export interface FileLookupOptions {
  readonly files: FileCalls;
  /** True to skip checks for symbolic links, because nobody else writes below the root. */
  readonly exclusive: boolean;
}

/** A file, with its state. */
export interface FoundFile {
  readonly path: string;
  readonly info: FileStats;
}

/** Finds the files of keys. None is reached through a symbolic link to outside the root. */
export class FileLookup {
  readonly #folders: DirectoryTree;
  readonly #files: FileCalls;
  readonly #exclusive: boolean;

  constructor(folders: DirectoryTree, { files, exclusive }: FileLookupOptions) {
    this.#folders = folders;
    this.#files = files;
    this.#exclusive = exclusive;
  }

  /** True if opening a file rejects symbolic links, or they need no check. */
  get canReadSync(): boolean {
    return this.#exclusive || NO_LINK !== undefined;
  }

  /** Returns true if the folder of `key` exists inside the root. */
  isReachable(key: string): boolean | Promise<boolean> {
    return this.#exclusive || this.#folders.has(folderOf(key));
  }

  /** Finds the file at `key`, or at the end of a symbolic link there; undefined if it does not exist. */
  async find(key: string): Promise<FoundFile | undefined> {
    try {
      if (!(await this.isReachable(key))) return undefined;
      let path = this.#folders.pathOf(key);
      let info = await this.#files.lstat(path);
      if (info.isSymbolicLink()) {
        path = await this.#folders.follow(key);
        info = await this.#files.lstat(path);
      }
      assertFileOrFolder(info);
      return info.isFile() ? { path, info } : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Opens the file at `key` for reading; undefined if it does not exist. */
  async #open(key: string): Promise<number | undefined> {
    try {
      if (!(await this.isReachable(key))) return undefined;
      if (this.canReadSync) {
        try {
          return await this.#files.open(this.#folders.pathOf(key), READ);
        } catch (error) {
          if (!hasSystemCode(error, "ELOOP", "EMLINK")) throw error;
        }
      }
      return await this.#files.open(await this.#folders.follow(key), READ);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reads a value, or a range of it, synchronously. The result has no bytes if the file is missing.
   *
   * @returns undefined if that is not possible: `read` then throws the reason
   */
  readSync(key: string, options: GetSyncOptions): SyncRead | undefined {
    const isFolderThere = this.#exclusive || this.#folders.hasSync(folderOf(key));
    if (isFolderThere === undefined) return undefined;
    const path = this.#folders.pathOf(key);
    const found = !isFolderThere
      ? { bytes: undefined }
      : options.into
        ? readIntoSync(path, READ, options.into)
        : readValueSync(path, READ, options, versionCheck(options));
    if (found === undefined || found.bytes !== undefined) return found;
    if (options.ifVersion !== undefined) return undefined;
    this.#noteMissing(key);
    return found;
  }

  /** Reads a value, or a range of it; undefined if it is missing. */
  async read(key: string, options: GetOptions): Promise<Uint8Array | undefined> {
    const { range, allocate = plainBuffers.take, signal } = options;
    const fd = await this.#open(key);
    if (fd === undefined) {
      this.#noteMissing(key);
      return assertMissing(options);
    }
    try {
      const info = this.#files.stat(fd);
      assertFileOrFolder(info);
      if (info.isDirectory()) {
        if (options.isLeaf) throw folderInPlace();
        return assertMissing(options);
      }
      versionCheck(options)?.(info);
      const { offset, length } = resolveRange(range, info.size);
      const bytes = allocate(length);
      const found = await readFully(this.#files, fd, bytes, offset);
      throwIfAborted(signal);
      if (found === length) return bytes;
      throw new ZarrflowError("short-read", "the file was truncated while it was being read", {
        expected: length,
        found,
      });
    } finally {
      this.#files.release(fd);
    }
  }

  /**
   * Reports a missing value to the watches, with its nearest existing folder. Missing documents are not reported.
   */
  #noteMissing(key: string): void {
    if (!isWatched() || isNamedDocument(key)) return;
    let folder = folderOf(key);
    while (!this.#folders.isKnown(folder)) folder = folderOf(folder);
    noteMissing(this.#folders.pathOf(folder));
  }
}

/** Returns a function that checks and reports the version of a file; undefined if the caller uses no versions. */
function versionCheck(options: GetOptions): ((info: FileStats) => void) | undefined {
  if (options.ifVersion === undefined && options.onVersion === undefined) return undefined;
  return (info) => assertVersion(options, fileVersion(info));
}
