import { createWriteStream, type WriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { finished } from "node:stream/promises";
import { fileError } from "../stores/file-error.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";

/** A ledger as a file of JSON lines that is only ever appended to. */
export class FileLedger implements Ledger {
  readonly #path: string;
  readonly #file: WriteStream;
  #failure: unknown;

  constructor(path: string) {
    this.#path = path;
    this.#file = createWriteStream(path, { flags: "a" });
    this.#file.on("error", (error) => {
      this.#failure = fileError(error, { store: `ledger ${path}` });
    });
  }

  record({ task, key, size, crc32 }: LedgerEntry): void {
    if (this.#failure) throw this.#failure;
    this.#file.write(`${JSON.stringify({ task, key, size, crc32 })}\n`);
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    await this.#flush();
    const file = await open(this.#path);
    for await (const line of file.readLines()) if (line !== "") yield JSON.parse(line) as LedgerEntry;
  }

  async close(): Promise<void> {
    this.#file.end();
    await finished(this.#file).catch((error) => {
      throw this.#failure ?? error;
    });
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.write("", (error) => (error ? reject(this.#failure ?? error) : resolve()));
    });
  }
}
