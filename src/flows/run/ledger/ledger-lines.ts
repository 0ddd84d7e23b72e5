import type { StoreSpec } from "../../../stores/store.ts";
import { isObject } from "../../../util/check-options.ts";
import type { PlanPace, StoreProfiles } from "../../plan/store-profile.ts";
import type { Settings } from "../../request/settings.ts";

/** What a run has done, as lines of JSON in the order in which it was done. */
export type LedgerLine = LedgerHeader | LedgerSession | LedgerEntry | LedgerTask | LedgerScratch;

export const LEDGER_FORMAT = "zarrflow-ledger/2";

/** The first line: what is being done, each part as a hash. */
export interface LedgerHeader {
  readonly format: typeof LEDGER_FORMAT;
  readonly begun: string;
  readonly identity: RunIdentity;
  /** What the plan assumed of stores over a network; absent: none is. */
  readonly profiles?: StoreProfiles;
  /** What its tasks were cut for. */
  readonly pace?: PlanPace;
  /** The options that decide what it writes, as texts. */
  readonly settings?: Settings;
}

/** What must be the same for a run to go on with what another has done. */
export interface RunIdentity {
  readonly source: string;
  readonly target: string;
  /** Arrays, with their chunks, codecs, strategies and windows. */
  readonly arrays: string;
  /** Documents, and keys that are copied. */
  readonly documents: string;
  /** Options that change the bytes of chunks. */
  readonly options: string;
  /** The contents of the source's metadata documents. */
  readonly sourceDocuments: string;
  /** All keys of the source with their versions, if the run was to check them. */
  readonly sourceKeys?: string;
}

/** A process that goes on with the run; what follows is its. */
export interface LedgerSession {
  readonly session: {
    readonly at: string;
    /** The machine's start, where the system has it: what was written before another one may have been lost. */
    readonly boot?: string;
    /** Whether values are on the disk when they are recorded. */
    readonly fsync: boolean;
  };
}

/** A value that is in the target: under which key, how large, and its CRC-32 where that is known. */
export interface LedgerEntry {
  /** Number of the task that wrote it; absent for documents and keys copied without tasks. */
  readonly task?: number;
  readonly key: string;
  readonly size: number;
  /** Absent where the bytes did not pass through this process. */
  readonly crc32?: number;
}

/** A task that has ended, and how many values it wrote: all of them are recorded before. */
export interface LedgerTask {
  readonly end: number;
  readonly keys: number;
}

/** Where the scratch objects of the tasks that follow are. */
export interface LedgerScratch {
  readonly scratch: StoreSpec;
}

export function ledgerLine(line: LedgerLine): string {
  return JSON.stringify(line);
}

/** What a line says; undefined for one that says nothing that can be used: it was cut, or somebody edited it. */
export function parseLedgerLine(text: string): LedgerLine | undefined {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isObject(line) && isLine(line as Fields) ? (line as unknown as LedgerLine) : undefined;
}

/** The format that a ledger's first line names; undefined where it names none. */
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
  const { maxMemory, concurrency, threads = 1 } = value as Fields;
  return [maxMemory, concurrency, threads].every(isCount);
}

function isProfile(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { latency, bytesPerSecond } = value as Fields;
  return [latency, bytesPerSecond].every((figure) => Number.isFinite(figure) && Number(figure) > 0);
}

function holdsTexts(value: unknown): boolean {
  return isObject(value) && Object.values(value).every((part) => typeof part === "string");
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

type Fields = { readonly [name: string]: unknown };
