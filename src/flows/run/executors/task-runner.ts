import type { Store, WritableStore } from "../../../stores/store.ts";
import type { ArrayJob, Driver, Plan } from "../../plan/plan.ts";
import type { Task } from "../../plan/task.ts";
import { type JobArrays, openJob } from "../open-job.ts";
import { loopTask } from "../tasks/loop-task.ts";
import { runTask } from "../tasks/run-task.ts";
import type { TaskContext } from "../tasks/task-context.ts";

/** What the tasks of a plan are run with, in one thread. */
export interface TaskWork extends Pick<TaskContext, "buffers" | "scratch"> {
  readonly plan: Plan;
  /** Threads that run tasks at the same time, each with its share of the requests in flight. */
  readonly threads: number;
  readonly source: Store;
  readonly target: WritableStore;
  /** The target's documents by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly writeEmpty?: boolean | undefined;
  /** Whether the target is read back afterwards, and checksums are needed for it. */
  readonly verify?: boolean | undefined;
  readonly driver: Driver;
}

/** What is told of a task while it runs. */
export type TaskEvents = Pick<TaskContext, "onRead" | "onWritten" | "onStored">;

export type TaskRunner = (task: Task, events: TaskEvents, signal: AbortSignal) => Promise<void>;

const DRIVERS = { streams: runTask, loop: loopTask };

/** Arrays that stay open: tasks of one array follow one another. */
const MAX_OPEN = 16;

/**
 * Runs tasks of a plan, whichever thread they are dealt to; the arrays of their jobs are opened once.
 *
 * @throws (the runner) `source-changed` where a source array is gone; as `runTask`.
 */
export function taskRunner(work: TaskWork): TaskRunner {
  const { plan, threads, buffers, scratch, writeEmpty, verify = false } = work;
  const io = Math.max(1, Math.floor(plan.execution.io / threads));
  const run = DRIVERS[work.driver];
  const arrays = new Map<ArrayJob, Promise<JobArrays<WritableStore>>>();
  const opened = (job: ArrayJob, signal: AbortSignal): Promise<JobArrays<WritableStore>> => {
    const known = arrays.get(job);
    if (known) return known;
    for (const oldest of arrays.keys()) {
      if (arrays.size < MAX_OPEN) break;
      arrays.delete(oldest);
    }
    const both = openJob(job, { ...work, signal });
    arrays.set(job, both);
    return both;
  };
  return async (task, events, signal) => {
    const both = await opened(task.job, signal);
    await run(task, {
      ...both,
      ...events,
      buffers,
      io,
      signal,
      ...(scratch && { scratch }),
      ...(writeEmpty && { writeEmpty }),
      checksums: verify,
    });
  };
}
