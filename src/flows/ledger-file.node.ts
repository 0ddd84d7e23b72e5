import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import type { Ledger, LedgerEntry } from "./ledger.ts";

/** A ledger as a file of JSON lines that is only ever appended to. */
export class FileLedger implements Ledger {
  readonly #path: string;
  readonly #file: WriteStream;
  #failure: Error | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#file = createWriteStream(path, { flags: "a" });
    this.#file.on("error", (error) => {
      this.#failure = error;
    });
  }

  record({ task, key, size, crc32 }: LedgerEntry): void {
    if (this.#failure) throw this.#failure;
    this.#file.write(`${JSON.stringify({ task, key, size, crc32 })}\n`);
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    await this.#flush();
    const lines = createInterface({
      input: createReadStream(this.#path),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    for await (const line of lines) if (line !== "") yield JSON.parse(line) as LedgerEntry;
  }

  async close(): Promise<void> {
    this.#file.end();
    await finished(this.#file);
  }

  #flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#file.write("", (error) => (error ? reject(error) : resolve()));
    });
  }
}
