import { constants, writeSync } from "node:fs";
import { ZarrflowError } from "../util/errors.ts";
import type { ByteSink } from "./byte-sink.ts";
import type { ValueFiles } from "./directory/value-file.ts";
import { asyncFileCalls, type FileCalls, writeFully } from "./file-calls.ts";
import { fileError } from "./file-error.ts";

const BUFFER_BYTES = 2 * 2 ** 20;

/**
 * A new file, written from begin to end. Writes are gathered in one buffer while another thread of the runtime writes what
 * is in a second one.
 */
export class FileSink implements ByteSink {
  readonly #files: FileCalls;
  readonly #fd: number;
  readonly #path: string;
  readonly #fsync: boolean;
  #buffer = new Uint8Array(BUFFER_BYTES);
  #buffered = 0;
  /** Bytes before those in the buffer: in the file, or in the spare buffer on their way there. */
  #written = 0;
  #spare = new Uint8Array(BUFFER_BYTES);
  /** The write of what is in the spare buffer; it never rejects. */
  #behind: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isOpen = true;
  /** Steps that were asked for and have not ended. */
  #waiting = 0;

  private constructor(fd: number, path: string, { files, fsync }: ValueFiles) {
    this.#files = files;
    this.#fd = fd;
    this.#path = path;
    this.#fsync = fsync;
  }

  /** @throws `path-not-allowed` when something is at `path`; `access-denied`, `no-space`, `too-many-files`. */
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

  write(bytes: Uint8Array): Promise<void> {
    return this.#next(async () => {
      if (this.#buffered + bytes.length > BUFFER_BYTES) await this.#makeRoom();
      if (bytes.length > BUFFER_BYTES) {
        await this.#flush();
        await writeFully(this.#files, this.#fd, bytes, this.#written);
        this.#written += bytes.length;
      } else {
        this.#buffer.set(bytes, this.#buffered);
        this.#buffered += bytes.length;
      }
    });
  }

  /** Takes none while other calls go on. */
  writeSync(...pieces: readonly Uint8Array[]): boolean {
    if (this.#waiting > 0 || !this.#isOpen || this.#failure) return false;
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    if (length > BUFFER_BYTES) return false;
    if (this.#buffered + length > BUFFER_BYTES) {
      // Where the other thread is at it still, this one writes, too.
      if (this.#behind === undefined) this.#writeBehind();
      else if (!this.#flushSync()) return false;
    }
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

  async abort(_reason: unknown): Promise<void> {
    await this.#last;
    if (!this.#isOpen) return;
    await this.#next(async () => {
      this.#isOpen = false;
      await this.#behind;
      await this.#files.close(this.#fd);
      await this.#files.unlink(this.#path);
    });
  }

  /** Takes the steps one after the other: a file must not be closed, and its number reused, under a write. */
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

  /** Begins to write what is in the buffer, and gathers in the other one, which is free. */
  #writeBehind(): void {
    const bytes = this.#buffer.subarray(0, this.#buffered);
    this.#behind = writeFully(this.#files, this.#fd, bytes, this.#written)
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .then(() => {
        this.#behind = undefined;
      });
    this.#written += this.#buffered;
    this.#buffered = 0;
    [this.#buffer, this.#spare] = [this.#spare, this.#buffer];
  }

  /** Whether the buffer is empty now; what was written of it before a failure is written again at its place. */
  #flushSync(): boolean {
    try {
      for (let done = 0; done < this.#buffered; ) {
        done += writeSync(this.#fd, this.#buffer, done, this.#buffered - done, this.#written + done);
      }
    } catch {
      return false;
    }
    this.#written += this.#buffered;
    this.#buffered = 0;
    return true;
  }

  /** Waits for the spare buffer. */
  async #makeRoom(): Promise<void> {
    await this.#settle();
    this.#writeBehind();
  }

  /** Resolves when all is in the file. */
  async #flush(): Promise<void> {
    await this.#settle();
    await writeFully(this.#files, this.#fd, this.#buffer.subarray(0, this.#buffered), this.#written);
    this.#written += this.#buffered;
    this.#buffered = 0;
  }

  /** Waits for what is written behind. @throws the failure of any such write */
  async #settle(): Promise<void> {
    await this.#behind;
    if (this.#failure) throw this.#failure.error;
  }
}
