import { product } from "../../util/shape.ts";
import type { ArrayProgress, ProgressTotals } from "../events.ts";
import type { ArrayJob } from "../plan/plan.ts";
import { jobOfTask, type StagedPlan } from "../plan/task.ts";
import { itemBytes } from "../plan/task-memory.ts";
import { nearest } from "../target/nearest-node.ts";
import type { TaskSet } from "./ledger/task-set.ts";

/** Maximum number of arrays that one event names. */
const MAX_ARRAYS = 8;

interface Work {
  readonly job: ArrayJob;
  readonly bytes: number;
  /** Tasks done by an earlier run; `tasks` counts those of this run. */
  before: number;
  tasks: number;
  reads: number;
  writes: number;
  /** Keys that will be noted a second time. */
  repeated: number;
  /** Completed part, from 0 to 1. */
  part: number;
}

/** Tracks the progress of each array of a plan, in bytes of items. */
export class RunProgress {
  readonly totals: ProgressTotals;
  readonly #plan: StagedPlan;
  readonly #work: ReadonlyMap<ArrayJob, Work>;
  readonly #byPath: ReadonlyMap<string, Work>;
  #touched = new Set<Work>();
  #bytes = 0;
  #done = 0;

  constructor(plan: StagedPlan) {
    const works = plan.jobs.map((job): Work => {
      const bytes = product(job.selection.shape) * itemBytes(job.source);
      return { job, bytes, before: 0, tasks: 0, reads: 0, writes: 0, repeated: 0, part: 0 };
    });
    const sum = (of: (work: Work) => number) => works.reduce((total, work) => total + of(work), 0);
    this.#plan = plan;
    this.#work = new Map(works.map((work) => [work.job, work]));
    this.#byPath = new Map(works.map((work) => [work.job.targetPath, work]));
    this.totals = {
      arrays: works.length,
      tasks: plan.stages.reduce((total, tasks) => total + tasks, 0),
      chunksRead: sum(({ job }) => job.chunksRead),
      chunksWritten: sum(({ job }) => job.chunksWritten),
      bytes: sum(({ bytes }) => bytes),
    };
  }

  get done(): { readonly arraysDone: number; readonly bytesDone: number } {
    return { arraysDone: this.#done, bytesDone: Math.round(this.#bytes) };
  }

  /** Returns the arrays that progressed since the last call. */
  takeArrays(): ArrayProgress[] {
    const latest = [...this.#touched].slice(-MAX_ARRAYS).reverse();
    this.#touched = new Set();
    return latest.map(({ job, bytes, part }) => ({
      path: job.targetPath,
      bytesDone: Math.round(part * bytes),
      bytes,
    }));
  }

  /** Notes tasks that an earlier run completed. */
  tasksDoneBefore(done: TaskSet): void {
    if (done.size === 0) return;
    for (let task = 0; task < this.totals.tasks; task++) {
      const work = done.has(task) ? this.#ofTask(task) : undefined;
      if (work) work.before++;
    }
    for (const work of this.#work.values()) if (work.before > 0) this.#update(work);
  }

  chunksRead(task: number, chunks: number): void {
    this.#note(this.#ofTask(task), { reads: chunks });
  }

  chunksWritten(task: number, chunks: number): void {
    this.#note(this.#ofTask(task), { writes: chunks });
  }

  taskEnded(task: number): void {
    this.#note(this.#ofTask(task), { tasks: 1 });
  }

  /** Notes a key of the target that is complete. */
  keyDone(key: string): void {
    const work = nearest(key, this.#byPath);
    if (work?.repeated) work.repeated--;
    else this.#note(work, { reads: 1, writes: 1 });
  }

  /** Announces that the keys noted so far will be noted again. */
  repeat(): void {
    for (const work of this.#work.values()) work.repeated = work.reads;
  }

  /** Marks all arrays as complete, including those with missing chunks. */
  end(): void {
    for (const work of this.#work.values()) this.#update(work, 1);
  }

  #ofTask(task: number): Work | undefined {
    return this.#work.get(jobOfTask(this.#plan, task));
  }

  #note(work: Work | undefined, { tasks = 0, reads = 0, writes = 0 }): void {
    if (work === undefined) return;
    work.tasks += tasks;
    work.reads += reads;
    work.writes += writes;
    this.#update(work);
  }

  #update(work: Work, part = partOf(work)): void {
    this.#touched.delete(work);
    this.#touched.add(work);
    if (part <= work.part) return;
    this.#bytes += (part - work.part) * work.bytes;
    work.part = part;
    if (part === 1) this.#done++;
  }
}

/**
 * Completed part of an array. Reading and writing are half of the work each; a finished task counts as a whole, even if
 * its chunks were missing.
 */
function partOf({ job, before, tasks, reads, writes }: Work): number {
  const chunks = (ratio(reads, job.chunksRead) + ratio(writes, job.chunksWritten)) / 2;
  if (job.tasks === 0) return Math.min(1, chunks);
  const all = tasksOf(job);
  const ended = (before + tasks) / all;
  // An array is complete when its last task ends, regardless of its chunk counts.
  return ended >= 1 ? 1 : Math.min(0.999, Math.max(ended, before / all + chunks));
}

function tasksOf({ tasks, passes = [] }: ArrayJob): number {
  return passes.reduce((sum, pass) => sum + pass.tasks, tasks);
}

function ratio(done: number, all: number): number {
  return all === 0 ? 1 : done / all;
}
