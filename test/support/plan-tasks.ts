import type { Plan } from "../../src/plan/plan.ts";
import { type Task, taskAt } from "../../src/plan/task.ts";

/** All tasks of a plan, stage by stage. */
export function* tasksOf(plan: Plan): Generator<Task> {
  for (const [stage, tasks] of plan.stages.entries()) {
    for (let index = 0; index < tasks; index++) yield taskAt(plan, stage, index);
  }
}
