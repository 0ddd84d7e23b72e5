import type { ArrayJob, Driver, TaskPlan } from "../../plan/plan.ts";
import type { Task } from "../../plan/task.ts";
import { loopTask } from "../tasks/loop-task.ts";
import { runTask } from "../tasks/run-task.ts";
import type { TaskContext } from "../tasks/task-context.ts";

/** The arrays that the tasks of a job read and write. */
export type TaskArrays = Pick<TaskContext, "source" | "target" | "readChunks">;

/** Settings with which one thread runs tasks. */
export interface TaskWork extends Pick<TaskContext, "buffers" | "scratch"> {
  readonly plan: Pick<TaskPlan, "execution">;
  /** Number of threads that run tasks at the same time. They share the requests in flight equally. */
  readonly threads: number;
  /** Opens the arrays of a job. */
  readonly open: (job: ArrayJob, signal: AbortSignal) => Promise<TaskArrays>;
  readonly writeEmpty?: boolean | undefined;
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
  const { plan, threads, buffers, scratch, writeEmpty, checksums = false } = work;
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
      ...(writeEmpty && { writeEmpty }),
      checksums,
    });
  };
}
