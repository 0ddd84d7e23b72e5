import type { StoreOptions, WritableStore } from "../../../stores/store.ts";
import { forEachConcurrent } from "../../../streams/for-each-concurrent.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Task, taskAt } from "../../plan/task.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import { scratchPlace } from "./read-scratch.ts";

/**
 * Marks a completed task as not done if its scratch object is gone and still needed, that is, if a task of the next
 * stage is not done.
 */
export async function redoLost(
  plan: Plan,
  done: TaskSet,
  scratch: WritableStore,
  { signal }: StoreOptions,
): Promise<void> {
  for (let stage = plan.stages.length - 1; stage > 0; stage--) {
    if ([...tasksOf(plan, stage)].every(({ number }) => done.has(number))) continue;
    const check = async (task: Task, context: StoreOptions) => {
      if (task.kind !== "scratch" || !done.has(task.number)) return;
      const size = await scratch.size(scratchPlace(task, scratch).chunkKey(task.coords), context);
      if (size === undefined) done.delete(task.number);
    };
    await forEachConcurrent(tasksOf(plan, stage - 1), check, {
      concurrency: plan.execution.concurrency,
      signal,
    });
  }
}

function* tasksOf(plan: Plan, stage: number): Generator<Task> {
  for (let index = 0; index < (plan.stages[stage] ?? 0); index++) yield taskAt(plan, stage, index);
}
