import type { PlanPace, StoreProfiles } from "../plan/plan.ts";
import type { Journal, StoreOptions, StoreSpec, TargetBuild } from "../stores/store.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { valueText } from "../targets/contents.ts";
import { ZarrflowError } from "../util/errors.ts";
import { TextHashSet } from "../util/hash.ts";
import { isCount } from "../util/numbers.ts";
import { type Fields, isObject } from "../util/options.ts";
import { TaskSet } from "./scheduler.ts";

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

/** The progress of a run as lines of JSON, in the order of events. */
export type LedgerLine = LedgerHeader | LedgerSession | LedgerEntry | LedgerTask | LedgerScratch;

export const LEDGER_FORMAT = "zarrflow-ledger/2";

/** First line: identity and settings of the run. */
export interface LedgerHeader {
  readonly format: typeof LEDGER_FORMAT;
  readonly begun: string;
  readonly identity: RunIdentity;
  /** Network performance that the plan assumed of its stores; absent if no store is remote. */
  readonly profiles?: StoreProfiles;
  /** Resources that the tasks were sized for. */
  readonly pace?: PlanPace;
  /** Options that affect the output, as texts. */
  readonly settings?: Settings;
}

/** Hashes that must match before a run can resume another. */
export interface RunIdentity {
  readonly source: string;
  readonly target: string;
  /** Arrays, with their chunks, codecs, strategies and windows. */
  readonly arrays: string;
  /** Documents, and keys that are copied. */
  readonly documents: string;
  /** Options that change the bytes of chunks. */
  readonly options: string;
  /** Contents of the source's metadata documents. */
  readonly sourceDocuments: string;
  /** All keys of the source with their versions, if the run was to check them. */
  readonly sourceKeys?: string;
}

/** Start of a process that continues the run; the lines that follow belong to it. */
export interface LedgerSession {
  readonly session: {
    readonly at: string;
    /** Identifies the boot of the machine, if the system can: unsynced writes from before another boot may be lost. */
    readonly boot?: string;
    /** True if values are flushed to disk before they are recorded. */
    readonly fsync: boolean;
  };
}

/** A value in the target, with its key and size, and its CRC-32 if known. */
export interface LedgerEntry {
  /** Number of the task that wrote it; absent for documents and keys copied without tasks. */
  readonly task?: number;
  readonly key: string;
  readonly size: number;
  /** Absent if the bytes did not pass through this process. */
  readonly crc32?: number;
}

/** A task that has ended, and the number of values it wrote, all of which were recorded before. */
export interface LedgerTask {
  readonly end: number;
  readonly keys: number;
}

/** Place of the scratch objects of the tasks that follow. */
export interface LedgerScratch {
  readonly scratch: StoreSpec;
}

export function ledgerLine(line: LedgerLine): string {
  return JSON.stringify(line);
}

/** Parses a line; undefined if it is truncated or otherwise unusable. */
export function parseLedgerLine(text: string): LedgerLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isObject(line) && isLine(line) ? (line as unknown as LedgerLine) : undefined;
}

/** The format named by the first line of a ledger; undefined without one. */
export function ledgerFormat(text: string): string | undefined {
  return /^\{"format":"(zarrflow-ledger\/[^"\\]{1,100})"/.exec(text)?.[1];
}

function isLine(line: Fields): boolean {
  const { format, identity, session, key, end, scratch } = line;
  if (format !== undefined)
    return (
      format === LEDGER_FORMAT &&
      holdsTexts(identity) &&
      isProfiles(line.profiles) &&
      isPace(line.pace) &&
      (line.settings === undefined || holdsTexts(line.settings))
    );
  if (session !== undefined) return isObject(session);
  if (scratch !== undefined) return isObject(scratch) && "kind" in scratch;
  if (end !== undefined) return isCount(end) && isCount(line.keys);
  const isOfTask = line.task === undefined || isCount(line.task);
  const hasChecksum = line.crc32 === undefined || isCount(line.crc32);
  return typeof key === "string" && isCount(line.size) && isOfTask && hasChecksum;
}

function isProfiles(value: unknown): boolean {
  return value === undefined || (isObject(value) && Object.values(value).every(isProfile));
}

function isPace(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  const { maxMemory, concurrency, threads = 1 } = value;
  return [maxMemory, concurrency, threads].every(isCount);
}

function isProfile(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { latency, bytesPerSecond } = value;
  return [latency, bytesPerSecond].every((figure) => Number.isFinite(figure) && Number(figure) > 0);
}

function holdsTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((part) => typeof part === "string");
}

/** Work completed by earlier runs that need not be repeated. */
export interface DoneBefore {
  readonly tasks: TaskSet;
  /** Totals of the values that these tasks wrote. */
  readonly written: { readonly keys: number; readonly bytes: number };
  /** Documents, and values that were copied without tasks, by key and size. */
  readonly values: TextHashSet;
  /** Place of their scratch objects, if they wrote any since the last boot of the machine. */
  readonly scratch?: StoreSpec | undefined;
}

export interface DoneBeforeOptions extends StoreOptions {
  /** Number of tasks of the plan. */
  readonly tasks: number;
  readonly hasValue: NonNullable<TargetBuild["hasValue"]>;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
}

/** A task that ended or a key that was copied, according to a ledger. */
interface Claim {
  readonly task?: number;
  readonly entries: readonly LedgerEntry[];
}

/** Initial state of a run that resumes no other. */
export function nothingDone(tasks: number): DoneBefore {
  return { tasks: TaskSet.empty(tasks), written: { keys: 0, bytes: 0 }, values: new TextHashSet() };
}

/**
 * Reads the completed work from a ledger and checks it against the target: a task counts as done if it ended and all of
 * its values exist.
 */
export async function doneBefore(
  journal: Pick<Journal, "lines" | "boot">,
  { tasks, hasValue, concurrency, signal }: DoneBeforeOptions,
): Promise<DoneBefore> {
  const done = nothingDone(tasks);
  const { boot } = journal;
  const written = { keys: 0, bytes: 0 };
  let scratch: StoreSpec | undefined;
  const claims = async function* (): AsyncGenerator<Claim> {
    const open = new Map<number, LedgerEntry[]>();
    let bootThen: string | undefined;
    for await (const text of journal.lines()) {
      const line = parseLedgerLine(text);
      if (line === undefined) continue;
      if ("session" in line) {
        open.clear();
        bootThen = line.session.boot;
      } else if ("scratch" in line)
        scratch = boot !== undefined && bootThen === boot ? line.scratch : undefined;
      else if ("end" in line) {
        const entries = open.get(line.end) ?? [];
        open.delete(line.end);
        if (line.end < tasks && entries.length === line.keys) yield { task: line.end, entries };
      } else if ("key" in line) {
        if (line.task === undefined) yield { entries: [line] };
        else if (open.get(line.task)?.push(line) === undefined) open.set(line.task, [line]);
      }
    }
  };
  const check = async ({ task, entries }: Claim, context: StoreOptions) => {
    for (const entry of entries) if (!(await hasValue(entry, context))) return;
    if (task === undefined) for (const entry of entries) done.values.add(valueText(entry));
    else if (!done.tasks.has(task)) {
      done.tasks.add(task);
      written.keys += entries.length;
      for (const { size } of entries) written.bytes += size;
    }
  };
  await forEachConcurrent(claims(), check, { concurrency, signal });
  return { ...done, written, scratch };
}

/** Description of an unfinished run, read from its ledger alone. */
export interface UnfinishedRun {
  readonly begun: string;
  readonly identity: RunIdentity;
  /** Network performance that its plan assumed of its stores. */
  readonly profiles?: StoreProfiles;
  readonly pace?: PlanPace;
  readonly settings?: Settings;
  /** Number of tasks that ended, over all sessions. */
  readonly tasks: number;
  /** True if unsynced writes may be lost, because the machine has rebooted since or may have. */
  readonly mayBeLost: boolean;
}

/**
 * Reads the description of an unfinished run; undefined if its ledger has none.
 *
 * @throws `plan-mismatch` for a ledger of another version.
 */
export async function unfinishedRun(
  journal: Pick<Journal, "lines" | "boot">,
  place: string,
): Promise<UnfinishedRun | undefined> {
  const { boot } = journal;
  let header: Pick<UnfinishedRun, "begun" | "identity" | "profiles" | "pace" | "settings"> | undefined;
  let tasks = 0;
  let mayBeLost = false;
  for await (const text of journal.lines()) {
    const line = parseLedgerLine(text);
    if (header === undefined) {
      assertFormat(text, place);
      if (line === undefined || !("identity" in line)) return undefined;
      header = line;
    } else if (line && "session" in line) mayBeLost ||= isLossy(line.session, boot);
    else if (line && "end" in line) tasks++;
  }
  return header && { ...header, tasks, mayBeLost };
}

function assertFormat(text: string, place: string): void {
  const found = ledgerFormat(text);
  if (found === undefined || found === LEDGER_FORMAT) return;
  throw new ZarrflowError("plan-mismatch", "the unfinished run was made by another version of zarrflow", {
    store: place,
    expected: LEDGER_FORMAT,
    found,
    hint: "Continue it with that version, or start over without --resume.",
  });
}

function isLossy({ fsync, boot }: LedgerSession["session"], now: string | undefined): boolean {
  return fsync !== true && (now === undefined || boot !== now);
}

/** Options that decide what a run writes, as texts by flag. */
export type Settings = Readonly<Record<string, string>>;
