import type { Plan } from "../plan/plan.ts";
import type { Store, TargetBuild } from "../stores/store.ts";
import { storeTraits } from "../stores/store-traits.ts";
import { withBlockingCalls } from "../stores/with/blocking-calls.ts";
import type { BufferPool } from "../streams/buffer-pool.ts";
import type { ByteBudget } from "../streams/byte-budget.ts";
import { onAbort, throwIfAborted } from "../util/abort.ts";
import { BlockingIo } from "../util/blocking-io.ts";
import { openJob } from "./open-job.ts";
import type { RunLog } from "./run-log.ts";
import { runTasks } from "./run-tasks.ts";
import { LocalScheduler, type Scheduler, type TaskSet } from "./scheduler.ts";
import type { Scratch } from "./scratch/scratch.ts";
import { REPORT_INTERVAL_MS, TaskReporter } from "./task-reporter.ts";
import { taskBuffers, taskRunner } from "./task-runner.ts";
import { type TasksResult, type TasksWork, unpackError, withErrors } from "./threads/messages.ts";
import { SharedScheduler } from "./threads/shared-scheduler.ts";
import { type OtherThreads, runInThreads } from "./threads/threads.ts";
import type { GiveBack } from "./threads/worker-pool.ts";

export interface PlanTasksOptions {
  readonly source: Store;
  readonly build: TargetBuild;
  /** Store of the scratch objects, with the spec by which other threads open it. */
  readonly scratch?: Scratch | undefined;
  /** Documents of the source that were read before; the caller checks that they have not changed. */
  readonly cachedDocument?: ((key: string) => Uint8Array | undefined) | undefined;
  /** Documents of the target by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** Memory of the run. Several threads divide all of it among themselves. */
  readonly budget: ByteBudget;
  /** Buffers of the run outside tasks. */
  readonly buffers: BufferPool;
  readonly log: RunLog;
  readonly writeEmptyChunks?: boolean | undefined;
  readonly checksums?: boolean | undefined;
  /** Tasks completed by an earlier run. */
  readonly done: TaskSet;
  /** Abort it to prevent further tasks from starting. */
  readonly stop?: AbortSignal | undefined;
  /** Undefined if all tasks run in this thread. */
  readonly threads: OtherThreads | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan: in this thread, and in others if there are any. If other threads can open the target, each
 * thread writes what it encodes; a single-writer target is written here, and workers transfer their encoded chunks.
 * Local files are read and written with blocking calls; this thread handles events between them at intervals.
 *
 * @throws the first failure of any task, once all have ended; `resource-limit` if a worker ran out of memory,
 *   `transient` if one ended without a reason; `aborted` if the run was stopped before its last task.
 */
export async function runPlanTasks(plan: Plan, options: PlanTasksOptions): Promise<void> {
  if (plan.stages.every((tasks) => tasks === 0)) return;
  const { source, build, budget, log, stop, threads, signal } = options;
  const shared = threads && {
    ...threads,
    scheduler: new SharedScheduler(plan.stages, budget.limit, threads.pool.threads),
  };
  const scheduler = shared?.scheduler ?? new LocalScheduler(plan.stages, budget);
  log.bufferedBytes = () => options.buffers.taken + scheduler.taken;
  const onResult = async (result: TasksResult, giveBack: GiveBack) => {
    if (result.kind === "notes") return log.tasksNoted(withErrors(result.notes, unpackError));
    const { values } = result;
    for (const { key, bytes } of values) await build.store.set(key, bytes);
    giveBack(values.map(({ number, bytes }) => ({ number, buffer: bytes.buffer as ArrayBuffer })));
  };
  const noMore = () => {
    scheduler.stop();
    threads?.pool.stop(false);
  };
  const stopListening = onAbort(stop, noMore);
  if (stop?.aborted) noMore();
  const runHere = (signal?: AbortSignal) => runHereBy(scheduler, plan, { ...options, signal });
  try {
    if (shared === undefined) await runHere(signal);
    else await runInThreads(runHere, { ...shared, source, work: workOf(plan, options), onResult, signal });
    throwIfAborted(stop);
  } finally {
    stopListening();
  }
  log.notePeak(scheduler.peak + (threads?.pool.ownPeaks ?? 0));
}

/** Runs the tasks that a scheduler deals to this thread. */
async function runHereBy(scheduler: Scheduler, plan: Plan, options: PlanTasksOptions): Promise<void> {
  const { scratch, log, threads, done, signal } = options;
  const isBlocking = threads !== undefined || plan.execution.driver === "loop";
  const io = new BlockingIo();
  const before = () => {
    scheduler.beat();
    return io.yield();
  };
  const opened = <S extends Store>(store: S) => (isBlocking ? withBlockingCalls(store, before) : store);
  const stores = { source: opened(options.source), target: opened(options.build.store) };
  // Stores supplied by the program may keep or detach the buffers that they receive.
  const leave = [plan.source.store, plan.target.store].some((spec) => !storeTraits(spec).opensAnywhere);
  const { buffers, close } = taskBuffers(plan, { ...scheduler.buffers, leave });
  const run = taskRunner({
    ...options,
    plan,
    open: (job, signal) => openJob(job, { ...options, plan, ...stores, signal }),
    scratch: scratch && opened(scratch.store),
    buffers,
    threads: scheduler.threads,
  });
  const reporter = new TaskReporter(scheduler.thread, isBlocking ? REPORT_INTERVAL_MS : 0, (notes) =>
    log.tasksNoted(notes),
  );
  const stageEnded = async (stage: number) => {
    buffers.clear();
    await scratch?.removePass(stage - 1);
  };
  try {
    await runTasks(plan, run, { scheduler, reporter, done, stageEnded, signal });
  } finally {
    close();
  }
}

/** The work of each other thread. */
function workOf(plan: Plan, { build, scratch, documents, ...options }: PlanTasksOptions): TasksWork {
  const { done, writeEmptyChunks = false, checksums = false } = options;
  return {
    kind: "tasks",
    plan,
    target: plan.execution.writer === "first-thread" ? undefined : build.spec,
    scratch: scratch?.spec,
    documents,
    done: done.bits,
    writeEmptyChunks,
    checksums,
  };
}
