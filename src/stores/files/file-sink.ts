import { constants, ftruncateSync, writeSync } from "node:fs";
import { ZarrflowError } from "../../util/errors.ts";
import type { ValueFiles } from "../directory/value-file.ts";
import type { ByteSink } from "../writer.ts";
import { asyncFileCalls, type FileCalls, writeFully } from "./file-calls.ts";
import { fileError } from "./file-error.ts";

const BUFFER_BYTES = 256 * 1024;

/** A new file that is written in order. Small writes are combined into blocks of 256 KiB. */
export class FileSink implements ByteSink {
  readonly #files: FileCalls;
  readonly #fd: number;
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #buffered = 0;
  /** Bytes in the file, without those in the buffer. */
  #written = 0;
  #last: Promise<unknown> = Promise.resolve();
  #isOpen = true;
  /** Steps that were requested and have not ended. */
  #waiting = 0;

  private constructor(fd: number, path: string, { files, fsync }: ValueFiles) {
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
    this.#fsync = fsync;
  }

  /** @throws `path-not-allowed` if something is at `path`; `access-denied`, `no-space`, `too-many-files`. */
  static async create(
    path: string,
    { files = asyncFileCalls, fsync = false }: Partial<ValueFiles> = {},
  ): Promise<FileSink> {
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
      return new FileSink(await files.open(path, flags), path, { files, fsync });
    } catch (error) {
      throw fileError(error, { store: `file ${path}` });
    }
  }

  /** Opens a file to continue after its first `length` bytes; the rest is truncated. */
  static async resume(
    path: string,
    length: number,
    { fsync = false }: Partial<ValueFiles> = {},
  ): Promise<FileSink> {
    try {
      const fd = await asyncFileCalls.open(path, constants.O_WRONLY);
      const sink = new FileSink(fd, path, { files: asyncFileCalls, fsync });
      ftruncateSync(fd, length);
      sink.#written = length;
      return sink;
    } catch (error) {
      throw fileError(error, { store: `file ${path}` });
    }
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      if (this.#buffered + bytes.length > BUFFER_BYTES) await this.#flush();
      if (bytes.length > BUFFER_BYTES) {
        await writeFully(this.#files, this.#fd, bytes, this.#written);
        this.#written += bytes.length;
      } else {
        this.#buffer.set(bytes, this.#buffered);
        this.#buffered += bytes.length;
      }
    });
  }

  /** Returns false while other calls are in progress. */
  writeSync(...pieces: readonly Uint8Array[]): boolean {
    if (this.#waiting > 0 || !this.#isOpen) return false;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (this.#buffered + length > BUFFER_BYTES && !this.#flushSync()) return false;
    if (length > BUFFER_BYTES) return this.#appendSync(pieces);
    for (const piece of pieces) {
      this.#buffer.set(piece, this.#buffered);
      this.#buffered += piece.length;
    }
    return true;
  }

  patch(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      await this.#flush();
      await writeFully(this.#files, this.#fd, bytes, offset);
    });
  }

  close(): Promise<void> {
    return this.#next(async () => {
      await this.#flush();
      if (this.#fsync) await this.#files.sync(this.#fd);
      this.#isOpen = false;
      await this.#files.close(this.#fd);
    });
  }

  /** Closes the file with its current contents, so that another run can continue it. */
  async keep(): Promise<void> {
    await this.#last;
    if (this.#isOpen) await this.close();
  }

  async abort(_reason: unknown): Promise<void> {
    await this.#last;
    if (!this.#isOpen) return;
    await this.#next(async () => {
      this.#isOpen = false;
      await this.#files.close(this.#fd);
      await this.#files.unlink(this.#path);
    });
  }

  /** Runs the steps one after the other: a file must not be closed, and its descriptor reused, during a write. */
  #next(step: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const turn = this.#last.then(async () => {
      const details = { store: `file ${this.#path}` };
      try {
        if (!this.#isOpen) throw new ZarrflowError("unsupported-operation", "the file is closed", details);
        await step();
      } catch (error) {
        throw fileError(error, details);
      } finally {
        this.#waiting--;
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Returns true if the buffer is empty afterwards. */
  #flushSync(): boolean {
    if (!this.#appendSync([this.#buffer.subarray(0, this.#buffered)])) return false;
    this.#buffered = 0;
    return true;
  }

  /** Returns true if everything was written. After a failure, the same bytes are written again at their place. */
  #appendSync(pieces: readonly Uint8Array[]): boolean {
    let end = this.#written;
    try {
      for (const piece of pieces) {
        for (let done = 0; done < piece.length; ) {
          const count = writeSync(this.#fd, piece, done, piece.length - done, end);
          done += count;
          end += count;
        }
      }
    } catch {
      return false;
    }
    this.#written = end;
    return true;
  }

  async #flush(): Promise<void> {
    await writeFully(this.#files, this.#fd, this.#buffer.subarray(0, this.#buffered), this.#written);
    this.#written += this.#buffered;
    this.#buffered = 0;
  }
}
