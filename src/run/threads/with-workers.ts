import type { Plan } from "../../plan/plan.ts";
import type { Store } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import type { TasksResult, TasksWork } from "./messages.ts";
import type { WorkerSettings } from "./pool-thread.ts";
import type { OtherThreads } from "./threads.ts";
import { WorkerPool } from "./worker-pool.ts";

export interface WithWorkersOptions {
  readonly source: Store;
  /** Settings for starting worker threads. */
  readonly worker?: WorkerSettings;
}

/**
 * Runs a callback with worker threads beside this one and ends them afterwards, even on failure. Loading the scripts of
 * a thread takes as long as opening the stores here, so the threads are started first.
 *
 * @param run called without threads if only this thread can open the stores, or if there is nothing to do
 * @throws what `run` throws.
 */
export async function withWorkers<T>(
  plan: Plan,
  { source, worker }: WithWorkersOptions,
  run: (threads?: OtherThreads) => Promise<T>,
): Promise<T> {
  const hasTasks = plan.stages.some((tasks) => tasks > 0);
  const sourceSpec = specOf(source);
  const { driver, singleThreadReason, ...execution } = plan.execution;
  const threads = singleThreadReason === undefined ? (worker?.threads ?? execution.threads) : 1;
  if (!hasTasks || sourceSpec === undefined) return run();
  const pool = await WorkerPool.start<TasksWork, TasksResult>(threads, worker);
  if (pool.threads === 1 && driver === "streams") return run();
  try {
    return await run({ pool, sourceSpec });
  } finally {
    await pool.end();
  }
}
