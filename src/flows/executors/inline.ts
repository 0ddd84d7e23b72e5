import type { ByteBudget } from "../../streams/byte-budget.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import type { Plan } from "../plan/plan.ts";
import { type Task, taskAt } from "../plan/task.ts";

export interface InlineOptions {
  readonly budget: ByteBudget;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread, in order, as many at once as the budget admits. The first failure aborts the
 * signal that the others were given.
 */
export async function runInline(
  plan: Plan,
  run: (task: Task, signal: AbortSignal) => Promise<void>,
  { budget, signal }: InlineOptions,
): Promise<void> {
  const admitted = async (number: number, context: { signal: AbortSignal }) => {
    const task = taskAt(plan, number);
    const lease = await budget.acquire(task.job.taskBytes, context.signal);
    try {
      await run(task, context.signal);
    } finally {
      lease.release();
    }
  };
  await forEachConcurrent(numbersTo(plan.totals.tasks), admitted, {
    concurrency: plan.budget.tasksAtOnce,
    signal,
  });
}

function* numbersTo(count: number): Generator<number> {
  for (let number = 0; number < count; number++) yield number;
}
