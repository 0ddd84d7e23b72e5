import type { Admission } from "../../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import { throwIfAborted } from "../../../util/abort.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import { leaseBytesOf, taskAt } from "../../plan/task.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import type { TaskStats } from "./messages.ts";
import { TaskReporter } from "./task-reporter.ts";
import type { TaskEvents, TaskRunner } from "./task-runner.ts";

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
