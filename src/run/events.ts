import type { Plan } from "../plan/plan.ts";
import type { Warning } from "../plan/warnings.ts";
import { onRetry, type Retry } from "../stores/remote/retry-requests.ts";
import type { RequestsNow } from "../stores/remote/server-counters.ts";
import type { OptionNames } from "../util/options.ts";

/** Progress counts of a run; they only grow. */
export interface RunCounts {
  readonly tasks: number;
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /** Stored bytes read and written. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** Total work according to the plan: the same in every event of a run. */
export interface ProgressTotals {
  readonly arrays: number;
  /** Tasks of all stages; arrays whose keys are copied unchanged have none. */
  readonly tasks: number;
  /** Chunks of all arrays. Missing chunks, and those that contain only the fill value, never count as done. */
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /** Decoded bytes of all arrays; an estimate for items of varying size. */
  readonly bytes: number;
}

/** Progress of one array. */
export interface ArrayProgress {
  /** Path of the array in the target store. */
  readonly path: string;
  /** Bytes of its items: done, and in total. */
  readonly bytesDone: number;
  readonly bytes: number;
}

/** Progress of a run, and the resources that it uses. */
export interface Progress extends RunCounts {
  readonly totals: ProgressTotals;
  /**
   * Finished arrays and bytes, out of `totals`; includes what an earlier run finished or an update found up to date.
   */
  readonly arraysDone: number;
  readonly bytesDone: number;
  /** Arrays that progressed since the last event of this type, latest first; at most 8. */
  readonly arrays: readonly ArrayProgress[];
  /** Bytes in buffers at this moment. */
  readonly bufferedBytes: number;
  /** Keys that an update found up to date so far. */
  readonly keysKept?: number;
  /** Requests in flight to all servers, and how many are allowed, for this process; absent if no server is used. */
  readonly requests?: RequestsNow;
}

/** Result of a run. */
export interface RunReport extends RunCounts {
  readonly seconds: number;
  /** Keys written, including documents. */
  readonly keysWritten: number;
  /** Tasks and copied keys that an unfinished run had completed; absent if none was resumed. */
  readonly tasksResumed?: number;
  readonly keysResumed?: number;
  /** Keys that an update found up to date, and keys that it deleted. */
  readonly keysKept?: number;
  readonly keysDeleted?: number;
  /** Keys that were read back and compared; absent without `verify`. */
  readonly keysVerified?: number;
  /** Arrays whose values were read back and compared with the source; absent without `verify: "values"`. */
  readonly arraysVerified?: number;
  /**
   * Entries of a zip source of which only parts were read since it was opened, so that their checksums were not
   * checked. Absent for other sources.
   */
  readonly uncheckedEntries?: number;
  /** Peak bytes of all buffers. */
  readonly peakBuffers: number;
  /** Threads that ran tasks; absent if there were no tasks. */
  readonly threads?: readonly ThreadReport[];
  /** Set if nothing was done because the target already existed (`ifExists: "skip"`). */
  readonly skipped?: true;
}

/** Work of one thread of a run. */
export interface ThreadReport {
  /** Number of the thread; 0 is the main thread. */
  readonly thread: number;
  readonly tasks: number;
}

export type WarningEvent = { readonly type: "warning" } & Warning;

/**
 * Events of a flow, in this order: `plan` once; each `warning`; `task-start` and `task-end` for each task, with
 * `written` for each value and an occasional `progress` in between; an occasional `verify` and `read` if requested;
 * `done` at the end. `retry` can come at any time, even first. A run that fails ends with `task-failed` if a task
 * failed, then with `unfinished` if its work is kept.
 */
export type FlowEvent =
  | { readonly type: "plan"; readonly plan: Plan }
  | WarningEvent
  | { readonly type: "task-start"; readonly task: number }
  /** `bytes` are the stored bytes that the task wrote. */
  | { readonly type: "task-end"; readonly task: number; readonly bytes: number; readonly ms: number }
  /**
   * The first task that failed, with the `error` that the flow throws. At most one in a run: the other tasks are
   * stopped and end without an event. Absent if the run was aborted or failed outside its tasks.
   */
  | { readonly type: "task-failed"; readonly task: number; readonly error: unknown }
  /**
   * A value was stored under a key of the target. Chunks and shards name their task, and come before its end; copied
   * keys and documents have no task.
   */
  | { readonly type: "written"; readonly key: string; readonly size: number; readonly task?: number }
  | { readonly type: "progress"; readonly progress: Progress }
  /** A request to any store of this process failed transiently, and will be retried. */
  | { readonly type: "retry"; readonly retry: Retry }
  /** Written keys that were read back and found correct so far. */
  | { readonly type: "verify"; readonly keys: number; readonly allKeys: number }
  /** Progress of comparing the values of an array with the source. */
  | ReadEvent
  /** The run ends early; its finished tasks and keys are kept for a run that resumes it. */
  | { readonly type: "unfinished"; readonly tasks: number; readonly keys: number }
  | { readonly type: "done"; readonly report: RunReport };

export interface EventOptions {
  /** Called with each event, from the opening of the source on. */
  readonly onEvent?: ((event: FlowEvent) => void) | undefined;
}

export const EVENT_OPTIONS: OptionNames<EventOptions> = { onEvent: true };

/** Progress of reading one array. The total is known only for items of fixed size. */
export interface ReadEvent {
  readonly type: "read";
  readonly path: string;
  /** Bytes of items; or of stored chunks, if only their validity is checked. */
  readonly bytes: number;
  readonly allBytes: number | undefined;
}

export interface ReadEventOptions {
  /** Called with the progress of each array, and with a warning if an array is not read as its document states. */
  readonly onEvent?: ((event: ReadEvent | WarningEvent) => void) | undefined;
}

export const READ_EVENT_OPTIONS: OptionNames<ReadEventOptions> = {
  onEvent: true,
};

/** Runs a step, and reports the requests that are retried in the meantime. */
export async function withRetryEvents<T>({ onEvent }: EventOptions, step: () => Promise<T>): Promise<T> {
  const unwatch = onRetry((retry) => onEvent?.({ type: "retry", retry }));
  try {
    return await step();
  } finally {
    unwatch();
  }
}
