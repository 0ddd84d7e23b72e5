import type { Admission } from "../../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import { leaseBytesOf, taskAt } from "../../plan/task.ts";
import type { TaskStats } from "./messages.ts";
import { TaskReporter } from "./task-reporter.ts";
import type { TaskRunner } from "./task-runner.ts";

export interface InlineOptions {
  readonly budget: Admission;
  /** Told what tasks do, as it happens. */
  readonly note: (stats: TaskStats) => void;
  /** Called when all tasks of a stage have ended. */
  readonly stageEnded?: (stage: number) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread, stage by stage and in order, as many at once as the budget admits. The first
 * failure aborts the signal that the others were given.
 */
export async function runInline(
  plan: TaskPlan,
  run: TaskRunner,
  { budget, note, stageEnded, signal }: InlineOptions,
): Promise<void> {
  const reporter = new TaskReporter(0, 0, note);
  try {
    for (const [stage, tasks] of plan.stages.entries()) {
      const admitted = async (index: number, context: { signal: AbortSignal }) => {
        const task = taskAt(plan, stage, index);
        const lease = await budget.acquire(leaseBytesOf(task), context.signal);
        if (lease === undefined) return;
        try {
          await reporter.around(task.number, (events) => run(task, events, context.signal));
        } finally {
          lease.release();
        }
      };
      await forEachConcurrent(numbersTo(tasks), admitted, {
        concurrency: plan.execution.tasksAtOnce,
        signal,
      });
      await stageEnded?.(stage);
    }
  } finally {
    reporter.flush();
  }
}

function* numbersTo(count: number): Generator<number> {
  for (let number = 0; number < count; number++) yield number;
}
