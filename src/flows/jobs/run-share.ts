import type { ArrayJob, Plan } from "../../plan/plan.ts";
import { firstOfStage, lastStage, taskAt } from "../../plan/task.ts";
import type { EventOptions, RunReport } from "../../run/events.ts";
import { doneBefore, type RunIdentity } from "../../run/ledger.ts";
import { assertSameRun } from "../../run/run-identity.ts";
import type { RunOptions } from "../../run/run-options.ts";
import { TaskSet } from "../../run/scheduler.ts";
import type { StoreAccess } from "../../stores/access.ts";
import type { JointRecords, JointRun, ShareName } from "../../targets/options.ts";
import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { runFlow } from "../run-flow.ts";
import { openPlan } from "./open-plan.ts";
import { type Encoders, identityOf, type PlanFile } from "./plan-file.ts";

export interface JobOptions
  extends EventOptions,
    Pick<RunOptions, "signal" | "stop" | "breakLock">,
    Pick<StoreAccess, "headers" | "query"> {
  /** The encoders of this process. */
  readonly encoders: Encoders;
  /** Allows the plan to run the modules that it names to compute values. */
  readonly trustMap?: boolean | undefined;
}

export interface ShareOptions extends JobOptions {
  /** The share of this process, and the number of all shares. */
  readonly index: number;
  readonly count: number;
  /** Counted from 0; by default all stages, one after the other. */
  readonly stage?: number | undefined;
}

/** Maximum number of shares of a stage. */
const MAX_SHARES = 1_000_000;

/**
 * Runs a share of a plan's tasks, and records its progress beside the target. Skips tasks that were done before.
 *
 * @throws `tasks-undone` while others have not completed the stage before; `invalid-option` if there is no such share.
 */
export async function runShare(file: PlanFile, options: ShareOptions): Promise<RunReport> {
  const { plan } = file;
  const { index, count, stage: only, ...running } = options;
  const stages = stageCount(plan);
  assertNumber("the task count", count, 1, MAX_SHARES);
  assertNumber("the task index", index, 0, count - 1);
  if (only !== undefined) assertNumber("the stage", only + 1, 1, stages);
  const wanted = only === undefined ? Array.from({ length: stages }, (_, stage) => stage) : [only];
  let report: RunReport | undefined;
  for (const stage of wanted) {
    const ran = await runStage(file, { stage, index, count }, running);
    report = report === undefined ? ran : sumOf(report, ran);
  }
  if (report === undefined) throw new RangeError("a plan has at least one stage");
  return report;
}

async function runStage(file: PlanFile, share: ShareName, options: JobOptions): Promise<RunReport> {
  const { plan } = file;
  const { first, end } = tasksOf(plan, share);
  const { copyKeys } = plan.publication;
  const arrays = first < end ? [first, end - 1].map((index) => jobNumber(plan, share.stage, index)) : [];
  const joint = jointRun(file, share, {
    assertReady: (records) => assertStagesDone(plan, share.stage, records),
  });
  const [from = 0, to = plan.jobs.length - 1] = arrays;
  const planned = await openPlan(file, { ...options, jobs: plan.jobs.slice(from, to + 1) });
  return runFlow(planned, runOptions(file, options), {
    joint,
    identity: identityOf(file),
    notToRun: (done) => allButShare(plan, share, done),
    ...(copyKeys && share.stage === 0 && { hasKey: hasKeyOf(share) }),
  });
}

function jobNumber(plan: Plan, stage: number, index: number): number {
  return plan.jobs.indexOf(taskAt(plan, stage, index).job);
}

export interface FinishOptions extends JobOptions, Pick<RunOptions, "verify"> {}

/**
 * Ends a run: closes the work of its processes, checks that all tasks are done, and publishes the target as a run in
 * one process would.
 *
 * @throws `tasks-undone` with the number of undone tasks, and which; `not-found` if no process has begun.
 */
export async function finishPlan(file: PlanFile, options: FinishOptions): Promise<RunReport> {
  const { plan } = file;
  let ended: readonly ShareName[] = [];
  const joint = jointRun(file, undefined, {
    async assertReady(records) {
      ended = records.ended;
      await assertStagesDone(plan, stageCount(plan), records);
    },
  });
  // no task is left for threads
  const planned = await openPlan(file, options);
  const execution = { ...plan.execution, threads: 1 };
  return runFlow({ ...planned, plan: { ...planned.plan, execution } }, runOptions(file, options), {
    joint,
    identity: identityOf(file),
    notToRun: (done) => done,
    assertDone: (done) => assertTasksDone(plan, ended, done),
  });
}

function jointRun(
  file: PlanFile,
  share: ShareName | undefined,
  { assertReady }: Pick<JointRun, "assertReady">,
): JointRun {
  const identity = identityOf(file);
  return {
    id: file.id,
    header: JSON.stringify({ joint: file.id, identity }),
    assertHeader: (found) =>
      assertSameRun(parsedIdentity(found), identity, { place: "the records of the run" }),
    ...(share && { share }),
    assertReady,
    isOfInterest: (other) => share === undefined || overlap(other, share),
  };
}

function parsedIdentity(header: string): RunIdentity {
  try {
    return (JSON.parse(header) as { readonly identity: RunIdentity }).identity ?? {};
  } catch {
    return {} as RunIdentity;
  }
}

/** A `stop` signal is always set: with it, a run that ends early keeps its completed tasks. */
function runOptions(
  file: PlanFile,
  { encoders: _encoders, headers: _headers, query: _query, trustMap: _trust, ...options }: FinishOptions,
): RunOptions {
  return { stop: new AbortController().signal, fsync: file.options.fsync, ...options };
}

function assertNumber(what: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new ZarrflowError("invalid-option", `${what} is out of range`, {
    expected: `${least} to ${most}`,
    found: value,
  });
}

/** Adds up the reports of two parts of a run. */
export function sumOf(a: RunReport, b: RunReport): RunReport {
  return {
    tasks: a.tasks + b.tasks,
    chunksRead: a.chunksRead + b.chunksRead,
    chunksWritten: a.chunksWritten + b.chunksWritten,
    bytesRead: a.bytesRead + b.bytesRead,
    bytesWritten: a.bytesWritten + b.bytesWritten,
    seconds: a.seconds + b.seconds,
    keysWritten: a.keysWritten + b.keysWritten,
    tasksResumed: (a.tasksResumed ?? 0) + (b.tasksResumed ?? 0),
    ...(a.uncheckedEntries !== undefined && {
      uncheckedEntries: a.uncheckedEntries + (b.uncheckedEntries ?? 0),
    }),
    peakBuffers: Math.max(a.peakBuffers, b.peakBuffers),
  };
}

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
    const said = { tasks, hasValue: async () => true, concurrency: 1 };
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
    hint: `Run \`zarrflow run PLAN --stage ${stage + 1} --task-index I --task-count ${count}\` for each of these, or resubmit the job: finished tasks are skipped.`,
  });
}

/** The number of shares that errors state: the largest count with which any share was completed. */
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
