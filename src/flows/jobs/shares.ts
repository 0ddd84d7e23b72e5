import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { firstOfStage } from "../../plan/task.ts";
import { lastStage } from "../../plan/windows.ts";
import { TaskSet } from "../../run/task-set.ts";
import type { ShareName } from "../../targets/options.ts";
import { crc32 } from "../../util/crc32.ts";

/** Tasks of a stage, by their index in it. */
export interface ShareTasks {
  readonly first: number;
  /** The index after the last task. */
  readonly end: number;
}

type SharedPlan = Pick<Plan, "jobs" | "stages">;

/** Fixed cost of a task, in bytes. */
const TASK_COST = 65_536;

/** The tasks of a share. They are adjacent, and all shares of a stage cost about the same. */
export function tasksOf(plan: SharedPlan, { stage, index, count }: ShareName): ShareTasks {
  const runs = runsOf(plan, stage);
  return { first: taskAtPart(runs, index, count), end: taskAtPart(runs, index + 1, count) };
}

/** The tasks of all shares of a stage. */
export function allShares(plan: SharedPlan, stage: number, count: number): ShareTasks[] {
  const runs = runsOf(plan, stage);
  const firsts = Array.from({ length: count + 1 }, (_, part) => taskAtPart(runs, part, count));
  return firsts.slice(1).map((end, index) => ({ first: firsts[index] ?? 0, end }));
}

/** Tasks of one array, which cost the same. */
interface TaskRun {
  readonly first: number;
  readonly tasks: number;
  readonly cost: number;
}

function runsOf({ jobs }: SharedPlan, stage: number): TaskRun[] {
  return jobs.flatMap((job) => {
    const isLast = lastStage(job) === stage;
    const { firstTask: first, tasks } = job.passes?.[stage] ?? (isLast ? job : { firstTask: 0, tasks: 0 });
    return tasks === 0 ? [] : { first, tasks, cost: TASK_COST + Math.ceil(bytesOf(job, stage) / tasks) };
  });
}

/** Bytes that all tasks of an array read and write in a stage. */
function bytesOf(
  { chunksRead, chunksWritten, source, target, passes = [] }: ArrayJob,
  stage: number,
): number {
  const made = chunksWritten * target.decodedSize;
  const read = stage === 0 ? chunksRead * source.decodedSize : made;
  return read + (stage === passes.length ? made : read);
}

/** The first task after a fraction (`part` / `of`) of the cost of all tasks. */
function taskAtPart(runs: readonly TaskRun[], part: number, of: number): number {
  const all = runs.reduce((sum, { tasks, cost }) => sum + tasks * cost, 0);
  let left = part === of ? Number.POSITIVE_INFINITY : (all * part) / of;
  let end = 0;
  for (const { first, tasks, cost } of runs) {
    if (left < tasks * cost) return first + Math.floor(left / cost);
    left -= tasks * cost;
    end = first + tasks;
  }
  return end;
}

/** The tasks that a share need not run: completed ones, and those of other shares. */
export function allButShare(plan: SharedPlan, share: ShareName, done: TaskSet): TaskSet {
  const { first, end } = tasksOf(plan, share);
  const start = firstOfStage(plan, share.stage);
  const others = new TaskSet(new Uint8Array(done.bits.length).fill(255));
  for (let task = start + first; task < start + end; task++) if (!done.has(task)) others.delete(task);
  return others;
}

/** Keys that are copied without tasks belong to shares by their hash. */
const SLOTS = 2 ** 16;
const encoder = new TextEncoder();

export function hasKeyOf({ index, count }: ShareName): (key: string) => boolean {
  return (key) => {
    const slot = crc32(encoder.encode(key)) % SLOTS;
    return slot * count >= index * SLOTS && slot * count < (index + 1) * SLOTS;
  };
}

/** True if two shares overlap; their counts may differ. */
export function overlap(a: ShareName, b: ShareName): boolean {
  return (
    a.stage === b.stage &&
    a.index * b.count < (b.index + 1) * a.count &&
    b.index * a.count < (a.index + 1) * b.count
  );
}

/** The indices of the shares, of `count`, that completed shares do not cover. */
export function uncovered(ended: readonly ShareName[], stage: number, count: number): number[] {
  const done = ended
    .filter((share) => share.stage === stage)
    .sort((a, b) => a.index * b.count - b.index * a.count);
  const left: number[] = [];
  for (let index = 0; index < count; index++) {
    let [covered, of] = [index, count];
    for (const share of done) {
      if (share.index * of > covered * share.count) break;
      if ((share.index + 1) * of > covered * share.count) [covered, of] = [share.index + 1, share.count];
    }
    if (covered * count < (index + 1) * of) left.push(index);
  }
  return left;
}
