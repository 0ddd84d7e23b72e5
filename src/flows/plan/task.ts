import { gridShape } from "../../meta/array-metadata.ts";
import type { ChunkRef, Region } from "../../streams/chunk.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { coordsAt, coordsOf, product } from "../../util/shape.ts";
import { chunkRefs } from "./chunk-refs.ts";
import { chunksHit } from "./chunk-visits.ts";
import type { ArrayJob, Plan } from "./plan.ts";

/** One task: a window of whole target chunks of one array. */
export interface Task {
  readonly number: number;
  readonly job: ArrayJob;
  /** The window in target chunks, cut at the grid's edge. */
  readonly window: Region;
}

/** Computes task `number` of a plan; nothing is listed. */
export function taskAt(plan: Plan, number: number): Task {
  const job = jobOf(plan.jobs, number);
  const grid = gridShape(job.target.shape, job.target.chunkShape);
  const windows = gridShape(grid, job.window);
  return { number, job, window: chunkRegion(coordsAt(number - job.firstTask, windows), job.window, grid) };
}

/** The parts of a task that are made one after the other: tasks of smaller windows. */
export function* stepsOf(task: Task): Generator<Task> {
  const { job, window } = task;
  const { step = window.shape } = job;
  for (const at of coordsOf(gridShape(window.shape, step))) {
    const { start, shape } = chunkRegion(at, step, window.shape);
    yield { ...task, window: { start: start.map((from, d) => from + (window.start[d] ?? 0)), shape } };
  }
}

function jobOf(jobs: readonly ArrayJob[], number: number): ArrayJob {
  let low = 0;
  let high = jobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const job = jobs[middle];
    if (job && number >= job.firstTask + job.tasks) low = middle + 1;
    else high = middle;
  }
  const job = jobs[low];
  if (!job || number < job.firstTask) throw new RangeError(`the plan has no task ${number}`);
  return job;
}

/** The source chunks that a task reads, each once, in C order of their coords; those in shards shard by shard. */
export function readsOf(task: Task): Generator<ChunkRef> {
  const { source, selection } = task.job;
  const items = itemsOf(task);
  const hit = selection.shape.map((count, d) => {
    const dimension = {
      start: selection.start[d] ?? 0,
      step: selection.step[d] ?? 1,
      count,
      sourceChunk: source.chunkShape[d] ?? 1,
    };
    return chunksHit(dimension, items.start[d] ?? 0, items.shape[d] ?? 0);
  });
  return chunkRefs(source, hit);
}

/** The items of the target array that a task makes. */
export function itemsOf({ job: { target }, window }: Task): Region {
  const start = window.start.map((chunk, d) => chunk * (target.chunkShape[d] ?? 1));
  const end = window.shape.map((chunks, d) => (start[d] ?? 0) + chunks * (target.chunkShape[d] ?? 1));
  return { start, shape: end.map((to, d) => Math.min(to, target.shape[d] ?? 0) - (start[d] ?? 0)) };
}

/** Coords of the target chunks that a task writes. */
export function writesOf(task: Task): Iterable<number[]> {
  return chunksIn(
    task.window,
    task.window.shape.map(() => 1),
  );
}

/** How many target chunks a task writes at most. */
export function countWrites(task: Task): number {
  return product(task.window.shape);
}
