import type { Plan } from "../../plan/plan.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { specOf } from "../../stores/url.ts";
import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import type { TasksResult, TasksWork } from "./messages.ts";
import type { WorkerSettings } from "./pool-thread.ts";
import { type PoolRun, WorkerPool } from "./worker-pool.ts";

/** The threads that run tasks, other than the one that started the flow. */
export interface OtherThreads<Work = TasksWork, Result = TasksResult> {
  readonly pool: WorkerPool<Work, Result>;
  /** Spec by which each thread opens the source. */
  readonly sourceSpec: StoreSpec;
}

export interface WithWorkersOptions {
  readonly source: Store;
  /** Settings for starting worker threads. */
  readonly worker?: WorkerSettings;
}

/**
 * Runs a callback with worker threads in addition to this one, and ends them afterwards, even on failure. Loading the
 * scripts of a thread takes as long as opening the stores here, so the threads are started first.
 *
 * @param run called without threads if only this thread can open the stores, or if there is too little to do
 * @throws what `run` throws.
 */
export async function withWorkers<T>(
  plan: Plan,
  { source, worker }: WithWorkersOptions,
  run: (threads?: OtherThreads) => Promise<T>,
): Promise<T> {
  const hasTasks = plan.stages.some((tasks) => tasks > 0);
  const sourceSpec = specOf(source);
  const { singleThreadReason, ...execution } = plan.execution;
  const threads = singleThreadReason === undefined ? (worker?.threads ?? execution.threads) : 1;
  if (!hasTasks || sourceSpec === undefined) return run();
  const pool = await WorkerPool.start<TasksWork, TasksResult>(threads, worker);
  if (pool.threads === 1) return run();
  try {
    return await run({ pool, sourceSpec });
  } finally {
    await pool.end();
  }
}

export interface InThreadsOptions<Work, Result>
  extends OtherThreads<Work, Result>,
    Omit<PoolRun<Work, Result>, "source" | "sourceVersion"> {
  /** The source, as this thread has opened it. */
  readonly source: Store;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs tasks in this thread and in the workers of a pool, which it ends. One scheduler deals the tasks to all of them.
 *
 * @param runHere runs the tasks that are dealt to this thread
 * @throws the first failure of any thread, once all have ended; as `WorkerPool.run`.
 */
export async function runInThreads<Work, Result>(
  runHere: (signal: AbortSignal) => Promise<void>,
  { pool, source, sourceSpec, signal, ...run }: InThreadsOptions<Work, Result>,
): Promise<void> {
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => void onAbort(stop.signal, resolve));
  const fail = (error: unknown) => {
    stop.abort(error);
    run.scheduler.stop();
    pool.stop();
  };
  const stopListening = onAbort(signal, () => fail(abortError(signal?.reason)));
  try {
    throwIfAborted(signal);
    const sourceVersion = await source.version?.({ signal });
    const others = pool.run({ ...run, source: sourceSpec, sourceVersion }).catch(fail);
    await runHere(stop.signal).catch(fail);
    await Promise.race([others, stopped]);
    stop.signal.throwIfAborted();
    source.checks?.addParts(pool.parts);
  } finally {
    stopListening();
    await pool.end();
  }
}
