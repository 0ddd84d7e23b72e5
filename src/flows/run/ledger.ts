/** A value that is in the target: under which key, how large, and its CRC-32 where that is known. */
export interface LedgerEntry {
  /** Number of the task that wrote it; absent for documents and keys copied without tasks. */
  readonly task?: number;
  readonly key: string;
  readonly size: number;
  /** Absent where the bytes did not pass through this process. */
  readonly crc32?: number;
}

/** What is done, so that it can be verified, and a run that was cut can go on. */
export interface Ledger {
  record(entry: LedgerEntry): void;
  /** All entries recorded so far, in order. */
  entries(): AsyncIterable<LedgerEntry>;
  close(): Promise<void>;
}

/** For runs that nobody asks afterwards what they wrote. */
export const noLedger: Ledger = {
  record() {},
  async *entries() {},
  async close() {},
};

/** For targets that have no folder to keep a ledger in. */
export class MemoryLedger implements Ledger {
  readonly #entries: LedgerEntry[] = [];

  record(entry: LedgerEntry): void {
    this.#entries.push(entry);
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    yield* this.#entries;
  }

  async close(): Promise<void> {}
}
