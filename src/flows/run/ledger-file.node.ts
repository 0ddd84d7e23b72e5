import { createWriteStream, type WriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { fileError } from "../../stores/files/file-error.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

/** Lines are gathered to so many characters before they are written. */
const GATHERED = 16 * 1024;

/** A ledger as a file of JSON lines that is only ever appended to. */
export class FileLedger implements Ledger {
  readonly #path: string;
  readonly #file: WriteStream;
  #lines = "";
  #failure: unknown;

  constructor(path: string) {
    this.#path = path;
    this.#file = createWriteStream(path, { flags: "a" });
    this.#file.on("error", (error) => this.#failed(error));
  }

  record({ task, key, size, crc32 }: LedgerEntry): void {
    if (this.#failure) throw this.#failure;
    this.#lines += `${JSON.stringify({ task, key, size, crc32 })}\n`;
    if (this.#lines.length >= GATHERED) this.#file.write(this.#gathered());
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    await this.#flush();
    const file = await open(this.#path).catch((error) => {
      throw this.#failed(error);
    });
    for await (const line of file.readLines()) if (line !== "") yield JSON.parse(line) as LedgerEntry;
  }

  async close(): Promise<void> {
    this.#file.end(this.#gathered());
    await finished(this.#file).catch((error) => {
      throw this.#failed(error);
    });
  }

  /** The first failure: those that follow tell that the file is closed. */
  #failed(error: unknown): unknown {
    this.#failure ??= fileError(error, { store: `ledger ${this.#path}` });
    return this.#failure;
  }

  #gathered(): string {
    const lines = this.#lines;
    this.#lines = "";
    return lines;
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.write(this.#gathered(), (error) => (error ? reject(this.#failed(error)) : resolve()));
    });
  }
}
