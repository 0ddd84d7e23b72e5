import type { Retry } from "../../../stores/remote/retry-events.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import type { StoredValue } from "../../../streams/shard-output.ts";
import { type ErrorCode, type ErrorDetails, isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import type { Plan } from "../../plan/plan.ts";

/** What a worker thread begins its tasks with. */
export interface WorkerStart {
  readonly plan: Plan;
  readonly source: StoreSpec;
  /** What distinguishes the source from one that takes its place, where its store can tell. */
  readonly sourceVersion: string | undefined;
  /** The build, which the thread writes itself; absent where it hands over what it encodes. */
  readonly target: StoreSpec | undefined;
  readonly scratch: StoreSpec | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly writeEmpty: boolean;
  readonly verify: boolean;
  /** The memory of the run's `Control`. */
  readonly control: SharedArrayBuffer;
  /** What all threads hear of overloaded servers. */
  readonly overloads: Int32Array;
  /** All threads of the run. */
  readonly threads: number;
}

/** What a worker thread tells the main one. */
export type WorkerMessage =
  | { readonly type: "notes"; readonly notes: TaskStats }
  | { readonly type: "retry"; readonly retry: Omit<Retry, "error">; readonly error: unknown }
  /** Values to be stored; answered by `stored`. */
  | { readonly type: "store"; readonly values: readonly HandedOver[] }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "done" };

/** What the main thread tells a worker. */
export type MainMessage =
  | { readonly type: "start"; readonly start: WorkerStart }
  | { readonly type: "stop" }
  | { readonly type: "stored"; readonly values: readonly StoredBuffer[] };

/** A value that is stored, and its buffer, which goes back to where it came from. */
export interface StoredBuffer {
  readonly number: number;
  readonly buffer: ArrayBuffer;
}

/** An encoded chunk on its way to the thread that stores it. */
export interface HandedOver {
  readonly number: number;
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** What tasks did since it was told last. */
export interface TaskStats {
  readonly thread: number;
  /** Tasks that began, and those that ended, in order. */
  readonly tasks: readonly TaskNote[];
  readonly chunksRead: number;
  readonly bytesRead: number;
  readonly chunksWritten: number;
  readonly stored: readonly (StoredValue & { readonly task: number })[];
}

export interface TaskNote {
  readonly task: number;
  /** Absent when it begins. */
  readonly end?: { readonly bytes: number; readonly ms: number };
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
  const { code, reason, details, stack, cause } = packed as PackedError;
  const options = cause === undefined ? undefined : { cause: unpackError(cause) };
  const error = new ZarrflowError(code, reason, details, options);
  if (stack !== undefined) error.stack = stack;
  return error;
}
