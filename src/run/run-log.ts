import { bytesPerItem } from "../plan/memory.ts";
import type { ArrayJob } from "../plan/plan.ts";
import { jobOfTask, type StagedPlan } from "../plan/task.ts";
import { requestsNow } from "../stores/remote/server-counters.ts";
import { crc32 } from "../util/crc32.ts";
import { nearest } from "../util/node-path.ts";
import { product } from "../util/shape.ts";
import type {
  ArrayProgress,
  FlowEvent,
  Progress,
  ProgressTotals,
  RunCounts,
  RunReport,
  ThreadReport,
} from "./events.ts";
import type { Ledger } from "./ledger.ts";
import type { TaskSet } from "./scheduler.ts";
import type { TaskStats } from "./task-reporter.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Counts the work of a run, records it in the ledger and emits progress events at intervals. */
export class RunLog {
  readonly ledger: Ledger;
  readonly #onEvent: (event: FlowEvent) => void;
  /** Returns the number of bytes in buffers now. */
  bufferedBytes: () => number;
  readonly #counts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 0, bytesWritten: 0 };
  #keys = 0;
  #peak = 0;
  readonly #threads = new Map<number, ThreadReport>();
  #kept = 0;
  readonly #resumed = { keys: 0, bytes: 0 };
  #deleted = 0;
  #copied = 0;
  #reportedAt = 0;
  readonly #progress: RunProgress;

  /** @param bufferedBytes returns the number of bytes in buffers now */
  constructor(
    plan: StagedPlan,
    ledger: Ledger,
    bufferedBytes: () => number,
    onEvent: ((event: FlowEvent) => void) | undefined = () => {},
  ) {
    this.#progress = new RunProgress(plan);
    this.ledger = ledger;
    this.bufferedBytes = bufferedBytes;
    this.#onEvent = onEvent;
  }

  get counts(): RunCounts {
    return { ...this.#counts };
  }

  /** Progress for the next event. Each change of an array is reported once. */
  takeProgress(): Progress {
    const keysKept = this.#kept;
    const requests = requestsNow();
    return {
      ...this.#counts,
      totals: this.#progress.totals,
      ...this.#progress.done,
      arrays: this.#progress.takeArrays(),
      bufferedBytes: this.bufferedBytes(),
      ...(keysKept > 0 && { keysKept }),
      ...(requests && { requests }),
    };
  }

  get keys(): number {
    return this.#keys;
  }

  /** Counts of an update: keys that were up to date, and keys that were deleted. */
  get existing(): { readonly keysKept: number; readonly keysDeleted: number } {
    return { keysKept: this.#kept, keysDeleted: this.#deleted };
  }

  /** True if something is done that a resuming run need not do again. */
  get hasDoneAny(): boolean {
    return this.#counts.tasks + this.#copied > 0;
  }

  /** Keys and bytes that an earlier run copied, and that this run keeps. */
  get resumed(): { readonly keys: number; readonly bytes: number } {
    return this.#resumed;
  }

  /** Notes tasks that an earlier run completed. */
  tasksResumed(done: TaskSet): void {
    this.#progress.tasksDoneBefore(done);
  }

  keyResumed(key: string, size: number): void {
    this.#progress.keyDone(key);
    this.#resumed.keys++;
    this.#resumed.bytes += size;
    this.#reportProgress();
  }

  keyKept(key: string): void {
    this.#progress.keyDone(key);
    this.keysKept(1);
  }

  /** Prepares for a second pass over the keys that were up to date: they count once. */
  repeat(): void {
    this.#progress.repeat();
  }

  keysKept(keys: number): void {
    this.#kept += keys;
    this.#reportProgress();
  }

  keyDeleted(): void {
    this.#deleted++;
    this.#reportProgress();
  }

  emit(event: FlowEvent): void {
    this.#onEvent(event);
  }

  /** Adds the work of tasks, in whichever thread they ran. */
  tasksNoted({ thread, tasks, reads, bytesRead, writes, stored }: TaskStats): void {
    const ended = tasks.filter(({ end }) => end).length;
    const before = this.#threads.get(thread)?.tasks ?? 0;
    this.#threads.set(thread, { thread, tasks: before + ended });
    for (const [task, chunks] of reads) {
      this.#counts.chunksRead += chunks;
      this.#progress.chunksRead(task, chunks);
    }
    this.#counts.bytesRead += bytesRead;
    for (const [task, chunks] of writes) {
      this.#counts.chunksWritten += chunks;
      this.#progress.chunksWritten(task, chunks);
    }
    for (const value of stored) this.#enter(value);
    for (const { task, end, failure } of tasks) {
      if (end) {
        this.#progress.taskEnded(task);
        this.#counts.tasks++;
        this.ledger.taskEnded(task);
      }
      if (failure) this.emit({ type: "task-failed", task, ...failure });
      else this.emit(end ? { type: "task-end", task, ...end } : { type: "task-start", task });
    }
    this.#reportProgress();
  }

  /** Notes the peak of bytes in task buffers, if other threads had some. */
  notePeak(bytes: number): void {
    this.#peak = Math.max(this.#peak, bytes);
  }

  /** Notes a key that was copied byte for byte, outside any task. No checksum is given if its bytes were not seen. */
  keyCopied(key: string, size: number, checksum?: number): void {
    this.#counts.chunksRead++;
    this.#counts.chunksWritten++;
    this.#counts.bytesRead += size;
    this.#copied++;
    this.#progress.keyDone(key);
    this.#enter({ key, size, ...(checksum !== undefined && { crc32: checksum }) });
    this.#reportProgress();
  }

  documentWritten(key: string, bytes: Uint8Array): void {
    this.#enter({ key, size: bytes.length, crc32: crc32(bytes) });
  }

  #enter(entry: Parameters<Ledger["record"]>[0]): void {
    this.#counts.bytesWritten += entry.size;
    this.#keys++;
    this.ledger.record(entry);
    const { key, size, task } = entry;
    this.emit({ type: "written", key, size, ...(task !== undefined && { task }) });
  }

  keysVerified(keys: number): void {
    this.#nowAndThen(() => ({ type: "verify", keys, allKeys: this.#keys }));
  }

  /** Ends the run: emits and returns its report, which adds the counts of this log to `others`. */
  ended({ seconds, ...others }: Omit<RunReport, keyof RunCounts | "keysWritten" | "threads">): RunReport {
    const threads = [...this.#threads.values()].sort((a, b) => a.thread - b.thread);
    const report: RunReport = {
      ...this.#counts,
      seconds,
      keysWritten: this.#keys,
      ...others,
      peakBuffers: Math.max(others.peakBuffers, this.#peak),
      ...(threads.length > 0 && { threads }),
    };
    this.#progress.end();
    this.emit({ type: "progress", progress: this.takeProgress() });
    this.emit({ type: "done", report });
    return report;
  }

  #reportProgress(): void {
    this.#nowAndThen(() => ({ type: "progress", progress: this.takeProgress() }));
  }

  #nowAndThen(event: () => FlowEvent): void {
    const now = Date.now();
    if (now - this.#reportedAt < PROGRESS_INTERVAL_MS) return;
    this.#reportedAt = now;
    this.emit(event());
  }
}

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
      const bytes = product(job.selection.shape) * bytesPerItem(job.source);
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
