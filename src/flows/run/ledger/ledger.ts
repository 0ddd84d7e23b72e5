import type { StoreSpec } from "../../../stores/store.ts";
import type { Journal } from "../../../stores/target/journal.ts";
import type { PlanPace, StoreProfiles } from "../../plan/store-profile.ts";
import type { Settings } from "../../request/settings.ts";
import {
  LEDGER_FORMAT,
  type LedgerEntry,
  ledgerLine,
  parseLedgerLine,
  type RunIdentity,
} from "./ledger-lines.ts";

export type { LedgerEntry } from "./ledger-lines.ts";

/** What is done, so that it can be verified, and a run that was cut can be resumed. */
export interface Ledger {
  record(entry: LedgerEntry): void;
  /** A task has ended; its values have been recorded. */
  taskEnded(task: number): void;
  /** Where the scratch objects of the tasks that follow are. */
  scratchOpened(spec: StoreSpec): void;
  /**
   * All entries recorded so far, in order, by earlier runs too that this one resumes; without those of tasks that were run
   * again later.
   */
  entries(): AsyncIterable<LedgerEntry>;
  close(): Promise<void>;
}

/** For runs that nobody asks afterwards what they wrote. */
export const noLedger: Ledger = {
  record() {},
  taskEnded() {},
  scratchOpened() {},
  async *entries() {},
  async close() {},
};

/** For targets that have no place to keep a ledger. */
export class MemoryLedger implements Ledger {
  readonly #entries: LedgerEntry[] = [];

  record(entry: LedgerEntry): void {
    this.#entries.push(entry);
  }

  taskEnded(): void {}

  scratchOpened(): void {}

  async *entries(): AsyncIterable<LedgerEntry> {
    yield* this.#entries;
  }

  async close(): Promise<void> {}
}

export interface JournalLedgerOptions {
  /** What the run is; absent where the journal says so already, as it is resumed. */
  readonly identity: RunIdentity | undefined;
  /** What its plan assumes of stores over a network. */
  readonly profiles?: StoreProfiles | undefined;
  readonly pace?: PlanPace | undefined;
  readonly settings?: Settings | undefined;
  /** Whether values are on the disk when they are recorded. */
  readonly fsync: boolean;
}

/** A ledger that outlives its process. */
export class JournalLedger implements Ledger {
  readonly #journal: Journal;
  /** How many values the tasks under way have written. */
  readonly #keys = new Map<number, number>();

  private constructor(journal: Journal) {
    this.#journal = journal;
  }

  static begin(
    journal: Journal,
    { identity, profiles, pace, settings, fsync }: JournalLedgerOptions,
  ): JournalLedger {
    const at = new Date().toISOString();
    const { boot } = journal;
    if (identity)
      journal.append(
        ledgerLine({
          format: LEDGER_FORMAT,
          begun: at,
          identity,
          ...(profiles && { profiles }),
          ...(pace && { pace }),
          ...(settings && { settings }),
        }),
      );
    journal.append(ledgerLine({ session: { at, fsync, ...(boot !== undefined && { boot }) } }));
    return new JournalLedger(journal);
  }

  record({ task, key, size, crc32 }: LedgerEntry): void {
    if (task !== undefined) this.#keys.set(task, (this.#keys.get(task) ?? 0) + 1);
    this.#journal.append(JSON.stringify({ task, key, size, crc32 }));
  }

  taskEnded(task: number): void {
    this.#journal.append(ledgerLine({ end: task, keys: this.#keys.get(task) ?? 0 }));
    this.#keys.delete(task);
  }

  scratchOpened(spec: StoreSpec): void {
    this.#journal.append(ledgerLine({ scratch: spec }));
    this.#journal.flush().catch(() => {}); // what is added next fails with that
  }

  async *entries(): AsyncIterable<LedgerEntry> {
    const lastSession: number[] = [];
    for await (const { entry, session } of this.#entries()) {
      if (entry.task !== undefined) lastSession[entry.task] = session;
    }
    for await (const { entry, session } of this.#entries()) {
      if (entry.task === undefined || lastSession[entry.task] === session) yield entry;
    }
  }

  async *#entries(): AsyncGenerator<{ readonly entry: LedgerEntry; readonly session: number }> {
    let session = 0;
    for await (const text of this.#journal.lines()) {
      const line = parseLedgerLine(text);
      if (line === undefined) continue;
      if ("session" in line) session++;
      else if ("key" in line) yield { entry: line, session };
    }
  }

  close(): Promise<void> {
    return this.#journal.close();
  }
}
