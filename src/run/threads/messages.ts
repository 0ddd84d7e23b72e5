import type { ZarrFormat } from "../../meta/array-metadata.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { Plan } from "../../plan/plan.ts";
import type { SlabPlan } from "../../plan/slabs.ts";
import type { StoreAccess } from "../../stores/access.ts";
import type { MissingNote } from "../../stores/directory/missing-values.ts";
import type { Retry } from "../../stores/remote/retry-requests.ts";
import type { ThreadCounters } from "../../stores/remote/server-counters.ts";
import type { ReadPart, StoreSpec } from "../../stores/store.ts";
import { type ErrorCode, type ErrorDetails, isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { Slab } from "../slabs/growing-slab.ts";
import type { TaskStats } from "../task-reporter.ts";
import type { SharedRun } from "./shared-scheduler.ts";

/** Start message of a worker, for any kind of work. */
export interface WorkerStart<Work> {
  readonly work: Work;
  readonly source: StoreSpec;
  /** Access settings of the source's server that no spec contains. */
  readonly access: Pick<StoreAccess, "headers" | "query">;
  /** Version that identifies the source, to detect a replacement; undefined if its store has none. */
  readonly sourceVersion: string | undefined;
  /** State shared by all threads: the next tasks, the leased memory and the stop flag. */
  readonly shared: SharedRun;
  /** Shared counters of server requests; undefined if the worker counts only its own. */
  readonly counters: ThreadCounters | undefined;
}

/** Messages to a worker. */
export type ToWorker<Work> =
  | { readonly type: "start"; readonly start: WorkerStart<Work> }
  /** Buffers of results that are no longer needed. */
  | { readonly type: "back"; readonly buffers: readonly ReturnedBuffer[] }
  /** Number of tasks that have ended in other threads, for a worker without shared memory. */
  | { readonly type: "ended"; readonly tasks: number }
  /** No further tasks may start; with `atOnce`, tasks in flight end too. */
  | { readonly type: "stop"; readonly atOnce: boolean };

/** Messages from a worker to the thread that started it. */
export type FromWorker<Result> =
  | { readonly type: "result"; readonly result: Result }
  | { readonly type: "retry"; readonly retry: Omit<Retry, "error">; readonly error: unknown }
  | { readonly type: "missing"; readonly note: MissingNote }
  /** Number of tasks that have ended in the worker, if it shares no memory. */
  | { readonly type: "ended"; readonly tasks: number }
  /** Parts of values that the worker read; checking their checksums needs the parts of all threads. */
  | { readonly type: "parts"; readonly parts: readonly ReadPart[] }
  | { readonly type: "failed"; readonly error: unknown }
  /** The worker has finished; `ownPeak` is its peak of buffer bytes, unless it is counted in shared memory. */
  | { readonly type: "done"; readonly ownPeak: number };

/** The buffer of a value or a slab, identified by its number. */
export interface ReturnedBuffer {
  readonly number: number;
  readonly buffer: ArrayBuffer;
}

/** The work of a worker: tasks of a plan, or slabs of an array. */
export type AnyWork = TasksWork | SlabsWork;

/** Tasks of a plan. Each thread claims the next ones. */
export interface TasksWork {
  readonly kind: "tasks";
  readonly plan: Plan;
  /** The target, if the thread writes it directly; absent if it transfers encoded chunks to another thread. */
  readonly target: StoreSpec | undefined;
  readonly scratch: StoreSpec | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Tasks completed by an earlier run, as a bit set. */
  readonly done: Uint8Array;
  readonly writeEmptyChunks: boolean;
  readonly checksums: boolean;
}

/** Results from threads that run tasks: reports, and values to be stored, whose buffers are sent back. */
export type TasksResult =
  | { readonly kind: "notes"; readonly notes: TaskStats }
  | { readonly kind: "values"; readonly values: readonly TransferredValue[] };

/** Slabs of an array. Each thread claims the next one. */
export interface SlabsWork {
  readonly kind: "slabs";
  /** Path of the array; `documents` are those that describe it. */
  readonly path: string;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly reading: FormatOptions & { readonly zarrFormat: ZarrFormat };
  readonly plan: SlabPlan;
  /** Maximum number of requests in flight in all threads. */
  readonly concurrency: number;
}

/** A slab read by a thread, at the start of a buffer that is sent back. */
export interface SlabResult {
  readonly number: number;
  readonly slab: Slab;
}

/** Maximum number of slabs that a thread has read and nobody has taken yet. */
export const MAX_WAITING = 2;

/** An encoded chunk in transfer to the thread that stores it. */
export interface TransferredValue {
  readonly number: number;
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Replaces the errors of failed tasks: `form` packs them for a message or unpacks them. */
export function withErrors(stats: TaskStats, form: (error: unknown) => unknown): TaskStats {
  const tasks = stats.tasks.map((note) =>
    note.failure ? { ...note, failure: { error: form(note.failure.error) } } : note,
  );
  return { ...stats, tasks };
}

/** A ZarrflowError as a plain object: structured cloning would lose its class. */
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
