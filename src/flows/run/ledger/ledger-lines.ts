import type { StoreSpec } from "../../../stores/store.ts";
import { isObject } from "../../../util/check-options.ts";
import type { PlanPace, StoreProfiles } from "../../plan/store-profile.ts";
import type { Settings } from "../../request/settings.ts";

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
  return isObject(line) && isLine(line as Fields) ? (line as unknown as LedgerLine) : undefined;
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
