import type { TaskPlan } from "../plan/plan.ts";
import { leaseBytesOf, taskAt } from "../plan/task.ts";
import { abortError, onAbort } from "../util/abort.ts";
import type { Scheduler, TaskSet } from "./scheduler.ts";
import type { TaskReporter } from "./task-reporter.ts";
import type { TaskRunner } from "./task-runner.ts";

export interface RunTasksOptions {
  /** Deals the tasks, to this thread alone or to several. */
  readonly scheduler: Scheduler;
  /** Reports the work of tasks. */
  readonly reporter?: TaskReporter | undefined;
  /** Tasks to skip. */
  readonly done?: TaskSet | undefined;
  /** Maximum number of tasks dealt together; 1 if a reader waits for them in order. */
  readonly dealtAtOnce?: number;
  /**
   * Called when all threads have ended the tasks of a stage, except for the last stage. Tasks of the next stage use
   * buffers of other sizes.
   */
  readonly stageEnded?: ((stage: number) => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the tasks dealt to this thread, stage by stage, each with a memory lease. The first failure stops the scheduler,
 * and aborts the other tasks of this thread.
 *
 * @throws that failure, or `aborted`, once all tasks of this thread have ended.
 */
export async function runTasks(
  plan: TaskPlan,
  run: TaskRunner,
  { scheduler, reporter, done, dealtAtOnce, stageEnded, signal }: RunTasksOptions,
): Promise<void> {
  const { driver, tasksAtOnce } = plan.execution;
  // Blocking calls leave no time for a second task in the same thread.
  const atOnce = driver === "loop" ? 1 : Math.ceil(tasksAtOnce / scheduler.threads);
  const stop = new AbortController();
  const fail = (error: unknown) => {
    scheduler.stop();
    stop.abort(error);
  };
  const abort = () => fail(abortError(signal?.reason));
  const stopListening = onAbort(signal, abort);
  if (signal?.aborted) abort();

  const runDealt = async (stage: number) => {
    const claim = () => scheduler.claim(stage, dealtAtOnce);
    for (let dealt = claim(); dealt; dealt = claim()) {
      const end = dealt.first + dealt.count;
      for (let index = dealt.first; index < end; index++) {
        const task = taskAt(plan, stage, index);
        if (!done?.has(task.number)) {
          const lease = await scheduler.acquire(leaseBytesOf(task), stop.signal);
          try {
            if (lease === undefined || stop.signal.aborted) return;
            if (reporter === undefined) await run(task, {}, stop.signal);
            else {
              const isFirst = () => scheduler.stop();
              await reporter.around(task.number, (events) => run(task, events, stop.signal), isFirst);
            }
          } finally {
            lease?.release();
          }
        }
        scheduler.taskEnded();
      }
    }
  };
  try {
    for (const stage of plan.stages.keys()) {
      await Promise.all(Array.from({ length: atOnce }, () => runDealt(stage).catch(fail)));
      const isLast = stage === plan.stages.length - 1;
      if (!stop.signal.aborted && !isLast) await scheduler.stageEnded(stage);
      stop.signal.throwIfAborted();
      if (scheduler.isStopped || isLast) break;
      await stageEnded?.(stage);
    }
  } finally {
    stopListening();
    reporter?.flush();
  }
}
