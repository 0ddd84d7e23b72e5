import { requestsNow } from "../../stores/remote/server-counters.ts";
import { crc32 } from "../../util/crc32.ts";
import type { FlowEvent, Progress, RunCounts, RunReport, ThreadReport } from "../events.ts";
import type { StagedPlan } from "../plan/task.ts";
import type { TaskStats } from "./executors/messages.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { TaskSet } from "./ledger/task-set.ts";
import { RunProgress } from "./run-progress.ts";

const PROGRESS_INTERVAL_MS = 100;

/** Counts the work of a run, records it in the ledger and emits progress events at intervals. */
export class RunLog {
  readonly ledger: Ledger;
  readonly #onEvent: (event: FlowEvent) => void;
  /** Returns the number of bytes in buffers now. */
  expectedBytes: () => number;
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

  /** @param expectedBytes returns the number of bytes in buffers now */
  constructor(
    plan: StagedPlan,
    ledger: Ledger,
    expectedBytes: () => number,
    onEvent: ((event: FlowEvent) => void) | undefined = () => {},
  ) {
    this.#progress = new RunProgress(plan);
    this.ledger = ledger;
    this.expectedBytes = expectedBytes;
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
      expectedBytes: this.expectedBytes(),
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

  /** The threads that reported tasks. */
  get threads(): readonly ThreadReport[] {
    return [...this.#threads.values()].sort((a, b) => a.thread - b.thread);
  }

  /** Peak of bytes in task buffers, as noted by `notePeak`; 0 unless other threads had buffers. */
  get peak(): number {
    return this.#peak;
  }

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

  /** Reports the end of the run. */
  ended(report: RunReport): void {
    this.#progress.end();
    this.emit({ type: "progress", progress: this.takeProgress() });
    this.emit({ type: "done", report });
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
