import type { Admission } from "../../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import type { Plan } from "../../plan/plan.ts";
import { leaseBytesOf, type Task, taskAt } from "../../plan/task.ts";

export interface InlineOptions {
  readonly budget: Admission;
  /** Called when all tasks of a stage have ended. */
  readonly stageEnded?: (stage: number) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread, stage by stage and in order, as many at once as the budget admits. The first
 * failure aborts the signal that the others were given.
 */
export async function runInline(
  plan: Plan,
  run: (task: Task, signal: AbortSignal) => Promise<void>,
  { budget, stageEnded, signal }: InlineOptions,
): Promise<void> {
  for (const [stage, tasks] of plan.stages.entries()) {
    const admitted = async (index: number, context: { signal: AbortSignal }) => {
      const task = taskAt(plan, stage, index);
      const lease = await budget.acquire(leaseBytesOf(task), context.signal);
      if (lease === undefined) return;
      try {
        await run(task, context.signal);
      } finally {
        lease.release();
      }
    };
    await forEachConcurrent(numbersTo(tasks), admitted, { concurrency: plan.execution.tasksAtOnce, signal });
    await stageEnded?.(stage);
  }
}

function* numbersTo(count: number): Generator<number> {
  for (let number = 0; number < count; number++) yield number;
}
