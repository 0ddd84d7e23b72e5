import type { StoredValue } from "../stores/store.ts";
import type { TaskContext } from "./tasks.ts";

/** Events of local files and of threads are many and cheap, so one report covers several. */
export const REPORT_INTERVAL_MS = 50;
const REPORT_AFTER_VALUES = 1000;

/** Collects the work of a thread's tasks and reports it: in one message per interval, or each event as it happens. */
export class TaskReporter {
  readonly #thread: number;
  readonly #report: (notes: TaskStats) => void;
  #tasks: TaskNote[] = [];
  #stored: (StoredValue & { readonly task: number })[] = [];
  #reads = new Map<number, number>();
  #writes = new Map<number, number>();
  #bytesRead = 0;
  /** Initially in the past, so that the start of the first task is reported immediately. */
  #reported = Number.NEGATIVE_INFINITY;

  readonly #interval: number;

  /**
   * @param thread in which the tasks run; 0 is the main thread
   * @param interval milliseconds between two messages; 0 reports each event as it happens
   */
  constructor(thread: number, interval: number, report: (notes: TaskStats) => void) {
    this.#thread = thread;
    this.#interval = interval;
    this.#report = report;
  }

  /**
   * Runs a task and notes its start, its work and its end.
   *
   * @param isFirst called if the task fails; returns true if nothing failed or stopped the run before. Only such a
   *   failure is noted.
   */
  async around(
    task: number,
    run: (events: TaskEvents) => Promise<void>,
    isFirst: () => boolean,
  ): Promise<void> {
    const started = performance.now();
    this.#tasks.push({ task });
    this.#reportWhenDue();
    let bytes = 0;
    const events: TaskEvents = {
      onRead: (chunk) => {
        this.#reads.set(task, (this.#reads.get(task) ?? 0) + 1);
        this.#bytesRead += chunk.bytes?.length ?? 0;
        this.#reportWhenDue();
      },
      onWritten: () => {
        this.#writes.set(task, (this.#writes.get(task) ?? 0) + 1);
        this.#reportWhenDue();
      },
      onStored: (value) => {
        bytes += value.size;
        this.#stored.push({ task, ...value });
        this.#reportWhenDue();
      },
    };
    try {
      await run(events);
    } catch (error) {
      if (isFirst()) {
        this.#tasks.push({ task, failure: { error } });
        this.flush();
      }
      throw error;
    }
    this.#tasks.push({ task, end: { bytes, ms: performance.now() - started } });
    this.#reportWhenDue();
  }

  /** Reports everything that has not been reported. */
  flush(): void {
    this.#reported = performance.now();
    const notes = {
      thread: this.#thread,
      tasks: this.#tasks,
      reads: this.#reads,
      bytesRead: this.#bytesRead,
      writes: this.#writes,
      stored: this.#stored,
    };
    this.#tasks = [];
    this.#stored = [];
    this.#reads = new Map();
    this.#writes = new Map();
    this.#bytesRead = 0;
    this.#report(notes);
  }

  #reportWhenDue(): void {
    const isDue = performance.now() - this.#reported >= this.#interval;
    if (isDue || this.#stored.length >= REPORT_AFTER_VALUES) this.flush();
  }
}

/** Callbacks that report the work of a running task. */
export type TaskEvents = Pick<TaskContext, "onRead" | "onWritten" | "onStored">;

/** Work of tasks since the last report. */
export interface TaskStats {
  readonly thread: number;
  /** Tasks that started, ended or failed, in order. */
  readonly tasks: readonly TaskNote[];
  /** Number of chunks read, and below written, by each task. */
  readonly reads: ReadonlyMap<number, number>;
  readonly bytesRead: number;
  readonly writes: ReadonlyMap<number, number>;
  readonly stored: readonly (StoredValue & { readonly task: number })[];
}

export interface TaskNote {
  readonly task: number;
  /** Present when the task has ended. */
  readonly end?: { readonly bytes: number; readonly ms: number };
  /** Present if the task has failed, as the first one of its run. */
  readonly failure?: { readonly error: unknown };
}
