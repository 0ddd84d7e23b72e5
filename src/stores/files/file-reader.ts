import { constants, readSync } from "node:fs";
import { throwIfAborted } from "../../util/abort.ts";
import type { RangeReader, RangeReadOptions } from "../../util/byte-range.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { asyncFileCalls, type FileCalls, readFully } from "./file-calls.ts";
import { fileError, isMissing } from "./file-error.ts";
import { fileVersion } from "./file-version.ts";

/** Files of readers that nobody can use any more, and nobody has closed. */
const dropped = new FinalizationRegistry<() => void>((close) => close());

/** A file, read in part. It is closed when nobody holds the reader any more, too. */
export class FileReader implements RangeReader {
  readonly size: number;
  readonly #files: FileCalls;
  readonly #fd: number;
  readonly #path: string;
  /** Reads under way, after the last of which a file is closed. */
  #reads = 0;
  #onIdle: (() => void) | undefined;
  readonly readSync?: (offset: number, into: Uint8Array) => boolean;

  private constructor(files: FileCalls, fd: number, path: string, size: number) {
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
    this.size = size;
    dropped.register(this, closer(files, fd), this);
    if (files === asyncFileCalls) this.readSync = (offset, into) => this.#readSync(offset, into);
  }

  /** @throws `not-found` where no file is at `path`; `access-denied`, `too-many-files`. */
  static async open(path: string, files: FileCalls = asyncFileCalls): Promise<FileReader> {
    let fd: number | undefined;
    try {
      fd = await files.open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      const info = files.stat(fd);
      if (!info.isFile()) throw new ZarrflowError("not-found", `${path} is not a file`);
      return new FileReader(files, fd, path, info.size);
    } catch (error) {
      if (fd !== undefined) files.release(fd);
      if (isMissing(error))
        throw new ZarrflowError("not-found", `there is no file ${path}`, {}, { cause: error });
      throw fileError(error, { store: `file ${path}` });
    }
  }

  /** @throws `short-read` when the file ends before. */
  async read(offset: number, length: number, { signal, into }: RangeReadOptions = {}): Promise<Uint8Array> {
    throwIfAborted(signal);
    const bytes = into ?? new Uint8Array(length);
    this.#reads++;
    try {
      const found = await readFully(this.#files, this.#fd, bytes, offset);
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

  #readSync(offset: number, into: Uint8Array): boolean {
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
    return fileVersion(this.#files.stat(this.#fd));
  }

  /** Closes the file, when all reads that are under way have ended. */
  async close(): Promise<void> {
    if (!dropped.unregister(this)) return; // closed before
    if (this.#reads > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    this.#files.release(this.#fd);
  }
}

/** Apart from the reader, which must not be held by what closes its file. */
function closer(files: FileCalls, fd: number): () => void {
  return () => files.release(fd);
}
