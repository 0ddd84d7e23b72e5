import {
  closeSync,
  createReadStream,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { fileError, isMissing } from "../stores/files/file-error.ts";
import { thisProcess } from "../stores/files/process-record.node.ts";
import type { Journal } from "../stores/store.ts";
import { checkedLine, wholeLines } from "./journal.ts";

/** Lines are buffered up to this many characters, or for this many milliseconds, before they are written. */
const GATHERED = 16 * 1024;
const GATHERED_MS = 10;
/** Longer with `fsync`: a write that waits for the disk takes some milliseconds itself. */
const GATHERED_MS_SYNCED = 100;
const NEW_LINE = 10;

/**
 * A journal in a file that lines are appended to. Its few writes are synchronous, so that a kill cannot interrupt
 * one halfway.
 */
export class FileJournal implements Journal {
  readonly description: string;
  readonly boot = thisProcess().boot;
  readonly #path: string;
  readonly #fsync: boolean;
  readonly #gatheredMs: number;
  #fd: number | undefined;
  #lines = "";
  #writtenAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: unknown;

  constructor(path: string, { fsync = false }: { readonly fsync?: boolean } = {}) {
    this.description = `ledger ${path}`;
    this.#path = path;
    this.#fsync = fsync;
    this.#gatheredMs = fsync ? GATHERED_MS_SYNCED : GATHERED_MS;
  }

  async *lines(): AsyncIterable<string> {
    await this.flush();
    try {
      yield* wholeLines(createReadStream(this.#path));
    } catch (error) {
      if (!isMissing(error)) throw this.#failed(error);
    }
  }

  append(line: string): void {
    if (this.#failure) throw this.#failure;
    this.#lines += checkedLine(line);
    const isDue = performance.now() - this.#writtenAt >= this.#gatheredMs;
    if (isDue || this.#lines.length >= GATHERED) this.#write();
    else this.#timer ??= setTimeout(() => this.#writeLater(), this.#gatheredMs);
  }

  async flush(): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#write();
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      clearTimeout(this.#timer);
      if (this.#fd !== undefined) closeSync(this.#fd);
      this.#fd = undefined;
    }
  }

  #writeLater(): void {
    try {
      this.#write();
    } catch {
      // the next call throws the error
    }
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines === "") return;
    const bytes = new TextEncoder().encode(this.#lines);
    this.#lines = "";
    const isNew = this.#fd === undefined;
    try {
      this.#fd ??= openAtLineEnd(this.#path);
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#fd, bytes, done);
      if (this.#fsync) fdatasyncSync(this.#fd);
      if (this.#fsync && isNew) syncFolderSync(dirname(this.#path));
    } catch (error) {
      throw this.#failed(error);
    }
    this.#writtenAt = performance.now();
  }

  /** Keeps the first failure: later ones would only say that the file is closed. */
  #failed(error: unknown): unknown {
    this.#failure ??= fileError(error, { store: this.description });
    return this.#failure;
  }
}

/** Flushes the entries of a folder to the disk. */
function syncFolderSync(path: string): void {
  if (process.platform === "win32") return; // folders cannot be opened on Windows
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens a file for appending. Ends an incomplete last line, so that the next line does not continue it. */
function openAtLineEnd(path: string): number {
  const fd = openSync(path, "a+");
  const { size } = fstatSync(fd);
  const last = new Uint8Array(1);
  if (size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== NEW_LINE) writeSync(fd, "\n");
  return fd;
}
