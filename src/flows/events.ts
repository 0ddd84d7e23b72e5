import { onRetry, type Retry } from "../stores/remote/retry-events.ts";
import type { RequestsNow } from "../stores/remote/server-counters.ts";
import type { OptionNames } from "../util/check-options.ts";
import type { Plan } from "./plan/plan.ts";
import type { Warning } from "./request/warnings.ts";

/** What a run has done so far; all counts only grow. */
export interface RunCounts {
  readonly tasks: number;
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /** Stored bytes read and written. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** How much there is to do in all, as the plan counts it: the same in every event of a run. */
export interface ProgressTotals {
  readonly arrays: number;
  /** Tasks of all stages; arrays whose keys are copied as they are have none. */
  readonly tasks: number;
  /** Chunks of all arrays. Chunks that are missing, or come to nothing but the fill value, are never counted as done. */
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /** Bytes of the items of all arrays, decoded; of items that vary in size an estimate. */
  readonly bytes: number;
}

/** How far one array is. */
export interface ArrayProgress {
  /** Path of the array in the target store. */
  readonly path: string;
  /** Bytes of its items: those that are done, and all. */
  readonly bytesDone: number;
  readonly bytes: number;
}

/** How far a run is, and what it takes to be there. */
export interface Progress extends RunCounts {
  readonly totals: ProgressTotals;
  /** Arrays that are done, and bytes of items that are, of `totals`: what an earlier run or an update found done too. */
  readonly arraysDone: number;
  readonly bytesDone: number;
  /** Arrays that went on since the last such event, the latest first; 8 at most. */
  readonly arrays: readonly ArrayProgress[];
  /** Bytes in buffers at this moment. */
  readonly expectedBytes: number;
  /** Keys that an update found to be right so far. */
  readonly keysKept?: number;
  /** Requests of this process to all servers that are asked, and how many of them are allowed; absent where none is. */
  readonly requests?: RequestsNow;
}

/** What a run did. */
export interface RunReport extends RunCounts {
  readonly seconds: number;
  /** Keys that were written, documents included. */
  readonly keysWritten: number;
  /** Tasks and copied keys that an unfinished run had done; absent where none was resumed. */
  readonly tasksResumed?: number;
  readonly keysResumed?: number;
  /** Keys that an update found to be right, and those that it deleted. */
  readonly keysKept?: number;
  readonly keysDeleted?: number;
  /** Keys that were read back and compared; absent without `verify`. */
  readonly keysVerified?: number;
  /** Arrays whose values were read back and compared with the source's; absent without `verify: "values"`. */
  readonly arraysVerified?: number;
  /**
   * Entries of the source, a zip, of which only parts were read since it was opened: their checksums were not checked.
   * Absent for sources of other kinds.
   */
  readonly uncheckedEntries?: number;
  /** The most bytes that all buffers took at one time. */
  readonly peakBuffers: number;
  /** The threads that ran tasks; absent where none did. */
  readonly threads?: readonly ThreadReport[];
  /** Whether nothing was done, as the target was there already (`ifExists: "skip"`). */
  readonly skipped?: true;
}

/** What one thread of a run did. */
export interface ThreadReport {
  /** 0 is the main thread. */
  readonly thread: number;
  readonly tasks: number;
}

export type WarningEvent = { readonly type: "warning" } & Warning;

/**
 * The events of a flow, in this order: `plan` once, `warning` for each, `task-start` and `task-end` for each task, with
 * `written` for each value and `progress` between them now and then, `retry` at any time, also before, `verify` and `read` now and then where that is
 * asked for, `done` once, at the end. A run that fails ends with `task-failed` if a task made it fail, and with
 * `unfinished` if its work is kept.
 */
export type FlowEvent =
  | { readonly type: "plan"; readonly plan: Plan }
  | WarningEvent
  | { readonly type: "task-start"; readonly task: number }
  /** `bytes` are the stored ones that the task wrote. */
  | { readonly type: "task-end"; readonly task: number; readonly bytes: number; readonly ms: number }
  /**
   * The first task that failed. At most one in a run: it stops the others, which end without an event. `error` is what
   * the flow throws. None if the run was aborted, or failed outside its tasks.
   */
  | { readonly type: "task-failed"; readonly task: number; readonly error: unknown }
  /**
   * A value was stored under a key of the target: a chunk or a shard by a task, before the end of that; a key that was
   * copied as it is, or a document, by none.
   */
  | { readonly type: "written"; readonly key: string; readonly size: number; readonly task?: number }
  | { readonly type: "progress"; readonly progress: Progress }
  /** A request to any store of this process failed transiently, and will be made again. */
  | { readonly type: "retry"; readonly retry: Retry }
  /** Keys that were read back and found right so far, of those that were written. */
  | { readonly type: "verify"; readonly keys: number; readonly allKeys: number }
  /** How far the values of an array have been compared with the source's. */
  | ReadEvent
  /** The run ends before its end; the tasks and keys that are done are kept for one that resumes it. */
  | { readonly type: "unfinished"; readonly tasks: number; readonly keys: number }
  | { readonly type: "done"; readonly report: RunReport };

export interface EventOptions {
  /** Called with each event, from when the source is opened. */
  readonly onEvent?: ((event: FlowEvent) => void) | undefined;
}

export const EVENT_OPTIONS: OptionNames<EventOptions> = { onEvent: true };

/** How much of one array has been read and looked at; of how much is known where items have one size. */
export interface ReadEvent {
  readonly type: "read";
  readonly path: string;
  /** Bytes of items; of stored chunks where only their validity is checked. */
  readonly bytes: number;
  readonly allBytes: number | undefined;
}

export interface ReadEventOptions {
  /** Called with the progress of each array, and with a warning where an array is not read as its document says. */
  readonly onEvent?: ((event: ReadEvent | WarningEvent) => void) | undefined;
}

export const READ_EVENT_OPTIONS: OptionNames<ReadEventOptions> = {
  onEvent: true,
};

/** Runs a step, and reports meanwhile requests that are made again. */
export async function withRetryEvents<T>({ onEvent }: EventOptions, step: () => Promise<T>): Promise<T> {
  const unwatch = onRetry((retry) => onEvent?.({ type: "retry", retry }));
  try {
    return await step();
  } finally {
    unwatch();
  }
}
