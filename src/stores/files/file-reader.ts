import { constants, readSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { throwIfAborted } from "../../util/abort.ts";
import type { RangeReader, RangeReadOptions } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { slashed } from "../url/local-path.ts";
import { sourceChanged } from "../version.ts";
import { asyncFileCalls, type FileCalls, type FileStats, readFully } from "./file-calls.ts";
import { fileError, isMissing } from "./file-error.ts";

/** Closes files of readers that were garbage-collected without being closed. */
const dropped = new FinalizationRegistry<() => void>((close) => close());

const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads ranges of a file. The file is also closed when the reader is garbage-collected. If a closed reader is used
 * again, it reopens the file, which must not have changed.
 */
export class FileReader implements RangeReader {
  readonly size: number;
  readonly #files: FileCalls;
  readonly #path: string;
  readonly #version: string;
  #fd: number | undefined;
  #opening: Promise<number> | undefined;
  /** Reads in flight; a file is closed after the last one. */
  #reads = 0;
  #onIdle: (() => void) | undefined;
  readonly readSync?: (offset: number, into: Uint8Array) => boolean;

  private constructor(files: FileCalls, fd: number, path: string, info: FileStats) {
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
    this.#version = fileVersion(info);
    this.size = info.size;
    dropped.register(this, closer(files, fd), this);
    if (files === asyncFileCalls) this.readSync = (offset, into) => this.#readSync(offset, into);
  }

  /** @throws `not-found` if there is no file at `path`; `access-denied`, `too-many-files`. */
  static async open(path: string, files: FileCalls = asyncFileCalls): Promise<FileReader> {
    let fd: number | undefined;
    try {
      fd = await files.open(path, FLAGS);
      const info = files.stat(fd);
      if (!info.isFile()) throw new ZarrflowError("not-found", `${path} is not a file`);
      return new FileReader(files, fd, path, info);
    } catch (error) {
      if (fd !== undefined) files.release(fd);
      if (isMissing(error))
        throw new ZarrflowError("not-found", `the file ${path} does not exist`, {}, { cause: error });
      throw fileError(error, { store: `file ${path}` });
    }
  }

  /** @throws `short-read` if the file ends before. */
  async read(offset: number, length: number, { signal, into }: RangeReadOptions = {}): Promise<Uint8Array> {
    throwIfAborted(signal);
    const bytes = into ?? new Uint8Array(length);
    this.#reads++;
    try {
      const found = await readFully(this.#files, await this.#open(), bytes, offset);
      throwIfAborted(signal);
      if (found < length) {
        const reason = `${this.#path} ends before the bytes at ${offset}`;
        throw new ZarrflowError("short-read", reason, { expected: length, found });
      }
      return bytes;
    } catch (error) {
      throw fileError(error, { store: `file ${this.#path}` });
    } finally {
      if (--this.#reads === 0) this.#onIdle?.();
    }
  }

  /** @throws `source-changed` if it is not the file that was opened at first */
  async #open(): Promise<number> {
    if (this.#fd !== undefined) return this.#fd;
    this.#opening ??= this.#openAgain().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openAgain(): Promise<number> {
    const fd = await this.#files.open(this.#path, FLAGS);
    try {
      if (fileVersion(this.#files.stat(fd)) !== this.#version)
        throw sourceChanged("the file was replaced or changed after it was opened");
    } catch (error) {
      this.#files.release(fd);
      throw error;
    }
    this.#fd = fd;
    dropped.register(this, closer(this.#files, fd), this);
    return fd;
  }

  #readSync(offset: number, into: Uint8Array): boolean {
    if (this.#fd === undefined) return false;
    try {
      for (let done = 0; done < into.length; ) {
        const count = readSync(this.#fd, into, done, into.length - done, offset + done);
        if (count === 0) return false;
        done += count;
      }
      return true;
    } catch {
      return false;
    }
  }

  async version(): Promise<string> {
    this.#reads++;
    try {
      return fileVersion(this.#files.stat(await this.#open()));
    } finally {
      if (--this.#reads === 0) this.#onIdle?.();
    }
  }

  /** Closes the file after all reads in flight have ended. */
  async close(): Promise<void> {
    if (!dropped.unregister(this)) return; // closed before
    while (this.#reads > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    if (this.#fd !== undefined) this.#files.release(this.#fd);
    this.#fd = undefined;
  }
}

/** Outside the class, because the callback must not keep the reader alive. */
function closer(files: FileCalls, fd: number): () => void {
  return () => files.release(fd);
}

/** Returns the version of a file, which changes if the file is replaced, resized or written to. */
export function fileVersion({ dev, ino, size, mtimeMs }: FileStats): string {
  return `${dev}-${ino}-${size}-${mtimeMs}`;
}

/**
 * Returns the version of a folder, which changes if the folder is replaced, but not if something is written in it.
 */
export function folderVersion({ dev, ino, birthtimeMs }: FileStats): string {
  return `${dev}-${ino}-${birthtimeMs}`;
}

/**
 * Returns the real path of a place that need not exist, based on its nearest existing ancestor, with `/` as the
 * separator.
 */
export async function realPath(path: string): Promise<string> {
  return slashed(await realPathOf(path));
}

async function realPathOf(path: string): Promise<string> {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch {
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realPathOf(parent), basename(absolute));
  }
}
