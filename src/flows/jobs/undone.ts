import type { JointRecords, ShareName } from "../../stores/target/options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { Plan } from "../plan/plan.ts";
import { firstOfStage } from "../plan/task.ts";
import { doneBefore } from "../run/ledger/done-before.ts";
import type { TaskSet } from "../run/ledger/task-set.ts";
import { tasksOf, uncovered } from "./shares.ts";

/** Maximum number of shares that an error names. */
const MAX_NAMED = 20;

/** Number of stages; one if keys are copied without tasks. */
export function stageCount({ stages }: Pick<Plan, "stages">): number {
  return Math.max(1, stages.length);
}

/**
 * Checks that all shares of the first `stages` stages are done. @throws `tasks-undone` with their number, and how to
 * continue.
 */
export async function assertStagesDone(plan: Plan, stages: number, records: JointRecords): Promise<void> {
  for (let stage = 0; stage < stages; stage++) {
    const count = largestCount(records.ended, stage);
    const left = uncovered(records.ended, stage, count);
    if (left.length === 0) continue;
    const tasks = plan.stages.reduce((sum, inStage) => sum + inStage, 0);
    const said = { tasks, holds: async () => true, concurrency: 1 };
    const done = await doneBefore(
      records.journal((share) => share.stage === stage),
      said,
    );
    throw undone(plan, stage, count, left, done.tasks);
  }
}

/** Checks that the target has all tasks. @throws `tasks-undone` */
export function assertTasksDone(plan: Plan, ended: readonly ShareName[], done: TaskSet): void {
  for (const [stage, tasks] of plan.stages.entries()) {
    const count = largestCount(ended, stage);
    if (countDone(plan, stage, done) === tasks) continue;
    const left = shareNumbers(count).filter((index) => !isDone(plan, { stage, index, count }, done));
    throw undone(plan, stage, count, left, done);
  }
}

function undone(
  plan: Plan,
  stage: number,
  count: number,
  left: readonly number[],
  done: TaskSet,
): ZarrflowError {
  const tasks = plan.stages[stage] ?? 0;
  const missing = tasks - countDone(plan, stage, done);
  const what = missing > 0 ? `${missing} of ${tasks} tasks` : "shares";
  const named = left.slice(0, MAX_NAMED).join(", ");
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
  return new ZarrflowError("tasks-undone", `${what} of stage ${stage + 1} are not done`, {
    found: `task index ${named}${more} of ${count}`,
    hint: `Run \`zarrflow run PLAN --stage ${stage + 1} --task-index I --task-count ${count}\` for each of these, or submit the job again: what is done is skipped.`,
  });
}

/** The count that errors use for shares: the largest one among the completed shares. */
function largestCount(ended: readonly ShareName[], stage: number): number {
  return ended.reduce((most, share) => (share.stage === stage ? Math.max(most, share.count) : most), 1);
}

function shareNumbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

function isDone(plan: Plan, share: ShareName, done: TaskSet): boolean {
  const start = firstOfStage(plan, share.stage);
  const { first, end } = tasksOf(plan, share);
  for (let task = start + first; task < start + end; task++) if (!done.has(task)) return false;
  return true;
}

function countDone(plan: Plan, stage: number, done: TaskSet): number {
  const start = firstOfStage(plan, stage);
  let count = 0;
  for (let task = start; task < start + (plan.stages[stage] ?? 0); task++) if (done.has(task)) count++;
  return count;
}
