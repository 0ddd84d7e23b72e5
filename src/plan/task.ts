import { gridShape } from "../meta/array-metadata.ts";
import { type ChunkRef, chunksPerShard, type Region } from "../streams/chunk.ts";
import { chunkRefs } from "../streams/chunk-refs.ts";
import { chunksIn } from "../streams/regrid.ts";
import { chunkRegion } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { invalidOption, isObject } from "../util/options.ts";
import { coordsAt, coordsOf, product } from "../util/shape.ts";
import type { ArrayJob, Plan, ScratchPass } from "./plan.ts";

/** A task makes whole target chunks, or a scratch object that later tasks read. */
export type Task = TargetTask | ScratchTask;

/** A task that makes a window of whole target chunks of one array. */
export interface TargetTask {
  readonly kind: "target";
  /** Number among all tasks of the plan, counted stage by stage. */
  readonly number: number;
  readonly job: ArrayJob;
  /** The window in target chunks, clipped to the grid. */
  readonly window: Region;
}

/** A task that makes one scratch object of one array. */
export interface ScratchTask {
  readonly kind: "scratch";
  readonly number: number;
  readonly job: ArrayJob;
  /** Index of the pass in the job. */
  readonly pass: number;
  /** Coords of the box in the pass's grid. */
  readonly coords: readonly number[];
}

/** The parts of a plan that determine its tasks. */
export type StagedPlan = Pick<Plan, "jobs" | "stages">;

/** Computes task `index` of a stage, without listing the others. */
export function taskAt(plan: StagedPlan, stage: number, index: number): Task {
  const { job, first } = jobAt(plan, stage, index);
  const number = firstOfStage(plan, stage) + index;
  if (stage < lastStage(job)) {
    const coords = coordsAt(index - first, boxGrid(splitsOf(job, stage)));
    return { kind: "scratch", number, job, pass: stage, coords };
  }
  const grid = gridShape(job.target.shape, job.target.chunkShape);
  const windows = gridShape(grid, job.window);
  return {
    kind: "target",
    number,
    job,
    window: chunkRegion(coordsAt(index - first, windows), job.window, grid),
  };
}

/** Returns the job of a task, given the task's number in the plan. */
export function jobOfTask(plan: StagedPlan, number: number): ArrayJob {
  const stage = plan.stages.findIndex((tasks, at) => number < firstOfStage(plan, at) + tasks);
  return jobAt(plan, stage, number - firstOfStage(plan, stage)).job;
}

/** Number of a stage's first task among all tasks of the plan. */
export function firstOfStage({ stages }: Pick<Plan, "stages">, stage: number): number {
  return stages.slice(0, stage).reduce((sum, tasks) => sum + tasks, 0);
}

/** Maximum bytes that a task may hold. */
export function leaseBytesOf(task: Task): number {
  return task.kind === "scratch" ? (task.job.passes?.[task.pass]?.leaseBytes ?? 0) : task.job.leaseBytes;
}

/** Yields the parts of a task that are made one after the other, as tasks with smaller windows. */
export function* stepsOf(task: TargetTask): Generator<TargetTask> {
  const { job, window } = task;
  const { step = window.shape } = job;
  for (const at of coordsOf(gridShape(window.shape, step))) {
    const { start, shape } = chunkRegion(at, step, window.shape);
    yield { ...task, window: { start: start.map((from, d) => from + (window.start[d] ?? 0)), shape } };
  }
}

/** The jobs with tasks in each stage and the numbers of their first tasks; computed once per plan. */
const stagesOfPlans = new WeakMap<StagedPlan, readonly (readonly StageJob[])[]>();

interface StageJob {
  readonly job: ArrayJob;
  readonly first: number;
}

function jobAt(plan: StagedPlan, stage: number, index: number): StageJob {
  if (!isObject(plan) || !Array.isArray(plan.stages))
    throw invalidOption("this is not a plan", "a plan", plan);
  const stages = stagesOfPlans.get(plan) ?? plan.stages.map((_, i) => jobsIn(plan, i));
  stagesOfPlans.set(plan, stages);
  const jobs = stages[stage] ?? [];
  let low = 0;
  let high = jobs.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (index >= (jobs[middle]?.first ?? 0)) low = middle;
    else high = middle;
  }
  const found = jobs[low];
  if (found && index >= 0 && index < (plan.stages[stage] ?? 0)) return found;
  throw invalidOption(
    "the plan has no such task",
    "a stage and an index within the plan",
    `${stage}, ${index}`,
  );
}

function jobsIn({ jobs }: StagedPlan, stage: number): StageJob[] {
  return jobs.flatMap((job) => {
    const { firstTask: first, tasks } =
      job.passes?.[stage] ?? (lastStage(job) === stage ? job : { firstTask: 0, tasks: 0 });
    return tasks > 0 ? [{ job, first }] : [];
  });
}

/**
 * Yields the source chunks that a task reads, each once, in C order of their coords; chunks in shards shard by
 * shard.
 */
export function readsOf(task: Task): Generator<ChunkRef> {
  assertTask(task);
  const { source, selection } = task.job;
  const { shape, chunkShape } = source;
  const perShard = chunksPerShard(source);
  const shards = perShard && { chunksPerShard: perShard };
  return chunkRefs({ shape, chunkShape, shards }, selection, itemsOf(task));
}

/** The items of the target array that a task makes or stores in a scratch object. */
export function itemsOf(task: Task): Region {
  const { job } = task;
  if (task.kind === "scratch") return boxRegion(splitsOf(job, task.pass), task.coords);
  const { window } = task;
  const { chunkShape, shape } = job.target;
  const start = window.start.map((chunk, d) => chunk * (chunkShape[d] ?? 1));
  const end = window.shape.map((chunks, d) => (start[d] ?? 0) + chunks * (chunkShape[d] ?? 1));
  return { start, shape: end.map((to, d) => Math.min(to, shape[d] ?? 0) - (start[d] ?? 0)) };
}

/** Coords of the target chunks that a task writes. */
export function writesOf(task: TargetTask): Iterable<number[]> {
  assertTask(task);
  const { window } = task;
  return chunksIn(
    window,
    window.shape.map(() => 1),
  );
}

/** Maximum number of target chunks that a task writes. */
export function countWrites(task: TargetTask): number {
  assertTask(task);
  return product(task.window.shape);
}

/** Asserts that a value is a task of a plan. @throws `invalid-option` */
export function assertTask(task: unknown): void {
  const isTask =
    isObject(task) && "job" in task && isObject(task.job) && ("window" in task || "pass" in task);
  if (!isTask) throw invalidOption("this is not a task", "a task returned by taskAt", task);
}

/** Key of a scratch object: its pass, and its index among all objects of that stage of the plan. */
export function scratchKey({ passes }: ArrayJob, pass: number, index: number): string {
  return `${pass}/${(passes?.[pass]?.firstTask ?? 0) + index}`;
}

/** Maximum number of chunks of one array that a run reads or writes. */
const MAX_CHUNKS = 2 ** 31;

/** Counts of a run, including missing chunks. */
interface Counted {
  /** Items of the selected part. */
  readonly items: number;
  /** Chunks read or written, including repeated reads. */
  readonly chunks: number;
}

/**
 * Asserts that a run over all items of an array can finish. Malicious and sparse arrays may state shapes that can
 * be read only in part.
 *
 * @throws `resource-limit`
 */
export function assertCountable({ items, chunks }: Counted, path: string): void {
  const isCountable = items <= Number.MAX_SAFE_INTEGER && chunks <= MAX_CHUNKS;
  if (isCountable) return;
  throw new ZarrflowError("resource-limit", "the run has too many chunks or items", {
    path,
    expected: `at most ${MAX_CHUNKS} chunks and ${Number.MAX_SAFE_INTEGER} items`,
    found: `${chunks} chunks, ${items} items`,
    hint: "Process a slice of it.",
  });
}

/**
 * The division of `length` results along one dimension into boxes. Result `r` is source item `start + step * r`,
 * and a box ends where source items reach a multiple of `size`. Boxes may be empty if `step` is more than `size`.
 */
export interface Split {
  readonly start: number;
  readonly step: number;
  readonly size: number;
  readonly length: number;
}

/** Splits results into boxes of `size` each. */
export function evenSplit(length: number, size: number): Split {
  return { start: 0, step: 1, size, length };
}

/** Returns the first result of a box; `length` for the box after the last. */
export function firstResult({ start, step, size, length }: Split, box: number): number {
  return Math.max(0, Math.min(length, Math.ceil((box * size - start) / step)));
}

/** Returns the box that contains a result. */
export function boxOf({ start, step, size }: Split, result: number): number {
  return Math.floor((start + step * result) / size);
}

export function countBoxes(split: Split): number {
  return split.length === 0 ? 0 : boxOf(split, split.length - 1) + 1;
}

/** Returns the maximum number of results in a box. */
export function longestBox({ step, size, length }: Split): number {
  return Math.min(length, Math.ceil(size / step));
}

/** The parts of a job that determine how items are split in each pass. */
export type SplitJob = Pick<ArrayJob, "selection" | "source" | "target" | "window" | "step"> & {
  readonly passes?: readonly Pick<ScratchPass, "box">[];
};

/** Index of the stage that makes target chunks; all stages before it are passes. */
export function lastStage({ passes = [] }: SplitJob): number {
  return passes.length;
}

/**
 * Returns how a stage splits the items of the target along each dimension: into scratch objects, or into windows in
 * the last stage.
 */
export function splitsOf(job: SplitJob, stage: number): Split[] {
  const { selection, source, target, passes = [] } = job;
  const pass = passes[stage];
  if (pass === undefined) {
    const chunks = job.step ?? job.window;
    return target.shape.map((n, d) => evenSplit(n, (chunks[d] ?? 1) * (target.chunkShape[d] ?? 1)));
  }
  if (stage > 0) return target.shape.map((n, d) => evenSplit(n, pass.box[d] ?? 1));
  return selection.shape.map((length, d) => {
    const aligned = (source.shardShape ?? source.chunkShape)[d] ?? 1;
    const start = (selection.start[d] ?? 0) % aligned;
    return { start, step: selection.step[d] ?? 1, size: pass.box[d] ?? 1, length };
  });
}

/** Number of boxes along each dimension. */
export function boxGrid(splits: readonly Split[]): number[] {
  return splits.map(countBoxes);
}

/** The items of the box at `coords`. */
export function boxRegion(splits: readonly Split[], coords: readonly number[]): Region {
  const start = splits.map((split, d) => firstResult(split, coords[d] ?? 0));
  const end = splits.map((split, d) => firstResult(split, (coords[d] ?? 0) + 1));
  return { start, shape: end.map((to, d) => to - (start[d] ?? 0)) };
}
