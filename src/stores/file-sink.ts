import { constants } from "node:fs";
import { ZarrflowError } from "../util/errors.ts";
import type { ByteSink } from "./byte-sink.ts";
import { asyncFileCalls, type FileCalls, writeFully } from "./file-calls.ts";
import { fileError } from "./file-error.ts";

const BUFFER_BYTES = 256 * 1024;

/** A new file, written from begin to end; small writes are gathered into one of 256 KiB. */
export class FileSink implements ByteSink {
  readonly #files: FileCalls;
  readonly #fd: number;
  readonly #path: string;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #buffered = 0;
  /** Bytes that are in the file, before those in the buffer. */
  #written = 0;
  #last: Promise<unknown> = Promise.resolve();
  #isOpen = true;

  private constructor(files: FileCalls, fd: number, path: string) {
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
  }

  /** @throws `path-not-allowed` when something is at `path`; `access-denied`, `no-space`, `too-many-files`. */
  static async create(path: string, files: FileCalls = asyncFileCalls): Promise<FileSink> {
    try {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
      return new FileSink(files, await files.open(path, flags), path);
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

  patch(offset: number, bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      await this.#flush();
      await writeFully(this.#files, this.#fd, bytes, offset);
    });
  }

  close(): Promise<void> {
    return this.#next(async () => {
      await this.#flush();
      this.#isOpen = false;
      await this.#files.close(this.#fd);
    });
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

  /** Takes the steps one after the other: a file must not be closed, and its number reused, under a write. */
  #next(step: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(async () => {
      const details = { store: `file ${this.#path}` };
      if (!this.#isOpen) throw new ZarrflowError("unsupported-operation", "the file is closed", details);
      try {
        await step();
      } catch (error) {
        throw fileError(error, details);
      }
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #flush(): Promise<void> {
    await writeFully(this.#files, this.#fd, this.#buffer.subarray(0, this.#buffered), this.#written);
    this.#written += this.#buffered;
    this.#buffered = 0;
  }
}
