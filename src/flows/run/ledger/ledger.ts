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

/** Record of completed work, by which a run can be verified, and resumed after an interruption. */
export interface Ledger {
  record(entry: LedgerEntry): void;
  /** Records the end of a task, after all its values. */
  taskEnded(task: number): void;
  /** Records the place of the scratch objects of the tasks that follow. */
  scratchOpened(spec: StoreSpec): void;
  /**
   * All entries in order, including those of earlier runs that this run resumes, except those of tasks that ran again
   * later.
   */
  entries(): AsyncIterable<LedgerEntry>;
  close(): Promise<void>;
}

/** Ledger of a run that is neither verified nor resumed. */
export const noLedger: Ledger = {
  record() {},
  taskEnded() {},
  scratchOpened() {},
  async *entries() {},
  async close() {},
};

/** Ledger for targets with no place to store one. */
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
  /** Identity of the run; absent when resuming, since the journal already contains it. */
  readonly identity: RunIdentity | undefined;
  /** Network performance that the plan assumes of its stores. */
  readonly profiles?: StoreProfiles | undefined;
  readonly pace?: PlanPace | undefined;
  readonly settings?: Settings | undefined;
  /** True if values are flushed to disk before they are recorded. */
  readonly fsync: boolean;
}

/** A ledger that outlives its process. */
export class JournalLedger implements Ledger {
  readonly #journal: Journal;
  /** Number of values written so far by each task in progress. */
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
    this.#journal.flush().catch(() => {}); // the next append reports the failure
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
