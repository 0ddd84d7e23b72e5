import { openKernelHeap, WORTH_A_HEAP } from "../codecs/kernels/kernels.ts";
import type { ArrayJob, Driver, Plan, TaskPlan } from "../plan/plan.ts";
import { strategyNamed } from "../plan/strategies.ts";
import { leaseBytesOf, type Task, taskAt } from "../plan/task.ts";
import type { StoredValue } from "../stores/store.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import type { Admission } from "../streams/byte-budget.ts";
import { forEachConcurrent } from "../streams/for-each-concurrent.ts";
import { throwIfAborted } from "../util/abort.ts";
import { builtin } from "../util/platform.node.ts";
import type { TaskSet } from "./task-set.ts";
import { loopTask, runTask, type TaskContext } from "./tasks.ts";
import type { TaskNote, TaskStats } from "./threads/messages.ts";
import type { SharedScheduler } from "./threads/shared-scheduler.ts";

/** Messages between threads take time, so one message reports many events. */
const REPORT_INTERVAL_MS = 50;

export interface TaskLoopOptions {
  readonly control: SharedScheduler;
  /** Called at intervals with the work of tasks. */
  readonly note: (notes: TaskStats) => void;
  /** Tasks to skip. */
  readonly done?: TaskSet;
  /** Aborted on the first failure, to end the other tasks of this thread. */
  readonly stop: AbortController;
  /** Maximum number of tasks dealt together; 1 if a reader waits for them in order. */
  readonly dealtAtOnce?: number;
  /**
   * Called when all threads have ended the tasks of a stage, except for the last stage. Tasks of the next stage use
   * buffers of other sizes.
   */
  readonly stageEnded?: (stage: number) => Promise<void>;
}

/**
 * Runs the tasks dealt to this thread, stage by stage, each with a memory lease, and reports their work. The first
 * failure stops all threads.
 *
 * @throws that failure, once all tasks of this thread have ended.
 */
export async function loopTasks(
  plan: TaskPlan,
  run: TaskRunner,
  { control, note, done, stop, dealtAtOnce, stageEnded }: TaskLoopOptions,
): Promise<void> {
  const thread = builtin("node:worker_threads")?.threadId ?? control.shared.thread;
  const reporter = new TaskReporter(thread, REPORT_INTERVAL_MS, note);
  const { driver, tasksAtOnce } = plan.execution;
  // Blocking calls leave no time for a second task in the same thread.
  const atOnce = driver === "loop" ? 1 : Math.ceil(tasksAtOnce / control.threads);
  const runTasks = async (stage: number) => {
    const claim = () => control.claim(stage, dealtAtOnce);
    for (let dealt = claim(); dealt; dealt = claim()) {
      const end = dealt.first + dealt.count;
      for (let index = dealt.first; index < end; index++) {
        const task = taskAt(plan, stage, index);
        if (done?.has(task.number)) {
          control.taskEnded();
          continue;
        }
        const lease = await control.acquire(leaseBytesOf(task));
        if (lease === undefined) return;
        try {
          await reporter.around(
            task.number,
            (events) => run(task, events, stop.signal),
            () => control.stop(),
          );
          control.taskEnded();
        } finally {
          lease.release();
        }
      }
    }
  };
  const guarded = async (stage: number) => {
    try {
      await runTasks(stage);
    } catch (error) {
      control.stop();
      stop.abort(error);
    }
  };
  try {
    for (const stage of plan.stages.keys()) {
      await Promise.all(Array.from({ length: atOnce }, () => guarded(stage)));
      const isLast = stage === plan.stages.length - 1;
      if (!stop.signal.aborted && !isLast) await control.stageEnded(stage);
      stop.signal.throwIfAborted();
      if (control.isStopped || isLast) break;
      await stageEnded?.(stage);
    }
  } finally {
    reporter.flush();
  }
}

export interface InlineOptions {
  readonly budget: Admission;
  /** Receives the work of tasks as it happens. */
  readonly note?: (stats: TaskStats) => void;
  /** Tasks to skip. */
  readonly done?: TaskSet;
  /** Abort it to prevent further tasks from starting. */
  readonly stop?: AbortSignal | undefined;
  /** Called when all tasks of a stage have ended. */
  readonly stageEnded?: (stage: number) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread, stage by stage and in order, as many at once as the budget admits. The first
 * failure aborts the signal of the other tasks.
 *
 * @throws that failure; `aborted` if the run was stopped before its last task.
 */
export async function runInline(
  plan: TaskPlan,
  run: TaskRunner,
  { budget, note, done, stop, stageEnded, signal }: InlineOptions,
): Promise<void> {
  const reporter = note && new TaskReporter(0, 0, note);
  let hasFailed = false;
  const isFirstFailure = () => {
    const isFirst = !hasFailed && !signal?.aborted;
    hasFailed = true;
    return isFirst;
  };
  try {
    for (const [stage, tasks] of plan.stages.entries()) {
      const admitted = async (index: number, context: { signal: AbortSignal }) => {
        const task = taskAt(plan, stage, index);
        if (done?.has(task.number)) return;
        const lease = await budget.acquire(leaseBytesOf(task), context.signal);
        if (lease === undefined) return;
        try {
          const runTask = (events: TaskEvents) => run(task, events, context.signal);
          await (reporter ? reporter.around(task.number, runTask, isFirstFailure) : runTask({}));
        } finally {
          lease.release();
        }
      };
      await forEachConcurrent(numbersTo(tasks, stop), admitted, {
        concurrency: plan.execution.tasksAtOnce,
        signal,
      });
      throwIfAborted(stop);
      await stageEnded?.(stage);
    }
  } finally {
    reporter?.flush();
  }
}

function* numbersTo(count: number, stop: AbortSignal | undefined): Generator<number> {
  for (let number = 0; number < count && !stop?.aborted; number++) yield number;
}

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

/** The arrays that the tasks of a job read and write. */
export type TaskArrays = Pick<TaskContext, "source" | "target" | "readChunks">;

/** Settings with which one thread runs tasks. */
export interface TaskWork extends Pick<TaskContext, "buffers" | "scratch"> {
  readonly plan: Pick<TaskPlan, "execution">;
  /** Number of threads that run tasks at the same time. They share the requests in flight equally. */
  readonly threads: number;
  /** Opens the arrays of a job. */
  readonly open: (job: ArrayJob, signal: AbortSignal) => Promise<TaskArrays>;
  readonly writeEmptyChunks?: boolean | undefined;
  /** True if the ledger needs checksums of values. */
  readonly checksums?: boolean | undefined;
  readonly driver: Driver;
}

/** Callbacks that report the work of a running task. */
export type TaskEvents = Pick<TaskContext, "onRead" | "onWritten" | "onStored">;

export type TaskRunner = (task: Task, events: TaskEvents, signal: AbortSignal) => Promise<void>;

const DRIVERS = { streams: runTask, loop: loopTask };

/** Maximum number of open arrays. Tasks of one array follow one another. */
const MAX_OPEN = 16;

/**
 * Creates a function that runs tasks and opens the arrays of each job once.
 *
 * @throws (the runner) as `open` and `runTask`.
 */
export function taskRunner(work: TaskWork): TaskRunner {
  const { plan, threads, buffers, scratch, writeEmptyChunks, checksums = false } = work;
  const concurrency = Math.max(1, Math.floor(plan.execution.concurrency / threads));
  const run = DRIVERS[work.driver];
  const arrays = new Map<ArrayJob, Promise<TaskArrays>>();
  const opened = (job: ArrayJob, signal: AbortSignal): Promise<TaskArrays> => {
    const known = arrays.get(job);
    if (known) return known;
    for (const oldest of arrays.keys()) {
      if (arrays.size < MAX_OPEN) break;
      arrays.delete(oldest);
    }
    const both = work.open(job, signal);
    arrays.set(job, both);
    // try again after a failure, or after an abort together with the task
    both.catch(() => arrays.get(job) === both && arrays.delete(job));
    return both;
  };
  return async (task, events, signal) => {
    const both = await opened(task.job, signal);
    await run(task, {
      ...both,
      ...events,
      buffers,
      concurrency,
      signal,
      ...(scratch && { scratch }),
      ...(writeEmptyChunks && { writeEmptyChunks }),
      checksums,
    });
  };
}

/** Buffers for the tasks of one thread. */
export interface TaskBuffers {
  readonly buffers: BufferPool;
  close(): void;
}

export interface TaskBuffersOptions {
  /** Maximum number of bytes in all of them. */
  readonly limit: number;
  readonly onChange?: (bytes: number) => void;
  /**
   * True if buffers are handed to code that may detach them. Buffers in kernel memory cannot leave it, so none are
   * used.
   */
  readonly leave?: boolean;
}

/**
 * Creates buffers for the tasks of one thread. If there is enough to decode, they are in the memory of the kernels,
 * where values are read and written and chunks are encoded and decoded without copies.
 */
export function taskBuffers(
  { jobs }: Pick<Plan, "jobs">,
  { limit, onChange, leave = false }: TaskBuffersOptions,
): TaskBuffers {
  const open = leave || decodedBytes(jobs) < WORTH_A_HEAP ? undefined : openKernelHeap();
  const buffers = new BufferPool(limit, { ...(onChange && { onChange }), source: open?.heap });
  return {
    buffers,
    close() {
      buffers.clear();
      open?.close();
    },
  };
}

function decodedBytes(jobs: Plan["jobs"]): number {
  const decoded = jobs.filter(({ strategy }) => strategyNamed(strategy).decodes);
  return decoded.reduce((sum, { chunksRead, source }) => sum + chunksRead * source.decodedSize, 0);
}
