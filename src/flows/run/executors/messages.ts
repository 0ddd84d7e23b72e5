import type { ZarrFormat } from "../../../meta/array-metadata.ts";
import type { FormatOptions } from "../../../meta/formats.ts";
import type { StoreAccess } from "../../../stores/access.ts";
import type { MissingNote } from "../../../stores/directory/missing-values.ts";
import type { Retry } from "../../../stores/remote/retry-events.ts";
import type { ThreadCounters } from "../../../stores/remote/server-counters.ts";
import type { ReadPart, StoredValue, StoreSpec } from "../../../stores/store.ts";
import { type ErrorCode, type ErrorDetails, isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import type { Plan } from "../../plan/plan.ts";
import type { SlabPlan } from "../../plan/slabs.ts";
import type { Slab } from "../../slabs/slab.ts";
import type { SharedRun } from "./shared-scheduler.ts";

/** What a worker begins with, whatever it works on. */
export interface WorkerStart<Work> {
  readonly work: Work;
  readonly source: StoreSpec;
  /** How its server is reached, which no spec says. */
  readonly access: Pick<StoreAccess, "headers" | "query">;
  /** What distinguishes the source from one that takes its place, where its store can tell. */
  readonly sourceVersion: string | undefined;
  /** What all threads share: what is next, what is leased, and whether to stop. */
  readonly control: SharedRun;
  /** Where all threads count their requests to servers; undefined for one that counts for itself. */
  readonly counters: ThreadCounters | undefined;
}

/** What a worker receives. */
export type ToWorker<Work> =
  | { readonly type: "start"; readonly start: WorkerStart<Work> }
  /** Buffers of results that are not needed any more. */
  | { readonly type: "back"; readonly buffers: readonly ReturnedBuffer[] }
  /** Tasks that have ended in other threads, which share no memory with it. */
  | { readonly type: "ended"; readonly tasks: number }
  /** No more tasks are to begin; `atOnce`: those in flight are to end, too. */
  | { readonly type: "stop"; readonly atOnce: boolean };

/** What a worker sends to the thread that started it. */
export type FromWorker<Result> =
  | { readonly type: "result"; readonly result: Result }
  | { readonly type: "retry"; readonly retry: Omit<Retry, "error">; readonly error: unknown }
  | { readonly type: "missing"; readonly note: MissingNote }
  /** Tasks that have ended in it, where it shares no memory with others. */
  | { readonly type: "ended"; readonly tasks: number }
  /** What it has read of values in parts, whose checksums it cannot check alone. */
  | { readonly type: "parts"; readonly parts: readonly ReadPart[] }
  | { readonly type: "failed"; readonly error: unknown }
  /** The most bytes that it had in buffers, which nobody else has counted. */
  | { readonly type: "done"; readonly ownPeak: number };

/** The buffer of a value or a slab, by its number. */
export interface ReturnedBuffer {
  readonly number: number;
  readonly buffer: ArrayBuffer;
}

/** What a worker works on: tasks of a plan, or slabs of an array. */
export type AnyWork = TasksWork | SlabsWork;

/** Tasks of a plan, of which each thread claims the next ones. */
export interface TasksWork {
  readonly kind: "tasks";
  readonly plan: Plan;
  /** The build, which the thread writes itself; absent where it hands over what it encodes. */
  readonly target: StoreSpec | undefined;
  readonly scratch: StoreSpec | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Tasks that an earlier run has done, a bit each. */
  readonly done: Uint8Array;
  readonly writeEmpty: boolean;
  readonly checksums: boolean;
}

/** What threads that run tasks send: what these did, and values to be stored, whose buffers go back. */
export type TasksResult =
  | { readonly kind: "notes"; readonly notes: TaskStats }
  | { readonly kind: "values"; readonly values: readonly TransferredValue[] };

/** Slabs of an array, of which each thread claims the next one. */
export interface SlabsWork {
  readonly kind: "slabs";
  /** The array's, with the documents that describe it. */
  readonly path: string;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly reading: FormatOptions & { readonly zarrFormat: ZarrFormat };
  readonly plan: SlabPlan;
  readonly maxMemory: number;
  readonly concurrency: number;
}

/** What threads that read slabs send: a slab, in the start of a buffer that goes back. */
export interface SlabResult {
  readonly number: number;
  readonly slab: Slab;
}

/** Slabs that a thread has read and that were not taken yet. */
export const MAX_WAITING = 2;

/** An encoded chunk on its way to the thread that stores it. */
export interface TransferredValue {
  readonly number: number;
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** What tasks did since the last report. */
export interface TaskStats {
  readonly thread: number;
  /** Tasks that began, ended and failed, in order. */
  readonly tasks: readonly TaskNote[];
  /** Chunks that each task read, and wrote. */
  readonly reads: ReadonlyMap<number, number>;
  readonly bytesRead: number;
  readonly writes: ReadonlyMap<number, number>;
  readonly stored: readonly (StoredValue & { readonly task: number })[];
}

export interface TaskNote {
  readonly task: number;
  /** Present when it ends. */
  readonly end?: { readonly bytes: number; readonly ms: number };
  /** Present when it fails, as the first of its run. */
  readonly failure?: { readonly error: unknown };
}

/** The same with the error of a failed task in another form: packed for a message, or unpacked. */
export function withErrors(stats: TaskStats, form: (error: unknown) => unknown): TaskStats {
  const tasks = stats.tasks.map((note) =>
    note.failure ? { ...note, failure: { error: form(note.failure.error) } } : note,
  );
  return { ...stats, tasks };
}

/** Errors as plain objects: a clone of ours would lose its class. */
interface PackedError {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly details: ErrorDetails;
  readonly stack: string | undefined;
  readonly cause: unknown;
}

export function packError(error: unknown): unknown {
  if (!isZarrflowError(error)) return { error: error instanceof Error ? error : String(error) };
  const { code, reason, details, stack, cause } = error;
  return {
    code,
    reason,
    details,
    stack,
    cause: cause === undefined ? undefined : packError(cause),
  } satisfies PackedError;
}

export function unpackError(packed: unknown): unknown {
  if (typeof packed !== "object" || packed === null || !("code" in packed)) {
    return (packed as { readonly error: unknown } | undefined)?.error;
  }
  const { stack, cause, ...parts } = packed as PackedError;
  const options = cause === undefined ? undefined : { cause: unpackError(cause) };
  const error = ZarrflowError.like(parts, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}
