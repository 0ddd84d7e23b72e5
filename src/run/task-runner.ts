import { openKernelHeap, WORTH_A_HEAP } from "../codecs/kernels/kernels.ts";
import type { ArrayJob, Plan, TaskPlan } from "../plan/plan.ts";
import { strategyNamed } from "../plan/strategies.ts";
import type { Task } from "../plan/task.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import type { TaskEvents } from "./task-reporter.ts";
import { loopTask, runTask, type TaskContext } from "./tasks.ts";

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
}

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
  const run = DRIVERS[plan.execution.driver];
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
