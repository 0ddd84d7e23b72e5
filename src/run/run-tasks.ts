import type { Plan } from "../plan/plan.ts";
import type { Store, TargetBuild } from "../stores/store.ts";
import { storeTraits } from "../stores/store-traits.ts";
import type { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { openJob } from "./open-job.ts";
import type { RunLog } from "./run-log.ts";
import type { Scratch } from "./scratch/scratch.ts";
import { type InlineOptions, runInline, taskBuffers, taskRunner } from "./task-loop.ts";
import type { TaskSet } from "./task-set.ts";
import type { TaskStats } from "./threads/messages.ts";
import { SharedScheduler } from "./threads/shared-scheduler.ts";
import type { OtherThreads } from "./threads/threads.ts";

export interface RunTasksOptions {
  readonly source: Store;
  readonly build: TargetBuild;
  /** Store of the scratch objects, with the spec by which other threads open it. */
  readonly scratch?: Scratch | undefined;
  /** Documents of the source that were read before; the caller checks that they have not changed. */
  readonly cachedDocument?: ((key: string) => Uint8Array | undefined) | undefined;
  /** Documents of the target by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly buffers: BufferPool;
  /** Maximum number of bytes that tasks may lease. */
  readonly maxMemory: number;
  readonly log: RunLog;
  readonly writeEmptyChunks?: boolean | undefined;
  readonly checksums?: boolean | undefined;
  /** Tasks completed by an earlier run. */
  readonly done: TaskSet;
  /** Abort it to prevent further tasks from starting. */
  readonly stop?: AbortSignal | undefined;
  /** Undefined if only this thread can open the stores. */
  readonly threads: OtherThreads | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan: in several threads if they can open the same stores, otherwise in this thread.
 *
 * @throws the first failure of any task; `aborted` if the run was stopped before its last task.
 */
export async function runTasks(plan: Plan, options: RunTasksOptions): Promise<void> {
  if (plan.stages.every((tasks) => tasks === 0)) return;
  const { buffers, log, maxMemory, threads } = options;
  const note = (stats: TaskStats) => log.tasksNoted(stats);
  if (threads === undefined) return inline(plan, { ...options, note });
  const { runThreads } = await import("./threads/threads.ts");
  const control = new SharedScheduler(plan.stages, maxMemory, threads.pool.threads);
  log.expectedBytes = () => buffers.taken + control.taken;
  await runThreads(plan, { ...options, ...threads, control, note });
  log.notePeak(control.peak + threads.pool.ownPeaks);
}

async function inline(plan: Plan, options: RunTasksOptions & Pick<InlineOptions, "note">): Promise<void> {
  const { source, build, scratch, documents, maxMemory, log, note, writeEmptyChunks, checksums } = options;
  const { cachedDocument, done, stop, signal } = options;
  // Stores supplied by the program may keep or detach the buffers that they receive.
  const leave = [plan.source.store, plan.target.store].some((spec) => !storeTraits(spec).isReopenable);
  const { buffers, close } = taskBuffers(plan, { limit: maxMemory, leave });
  log.expectedBytes = () => options.buffers.taken + buffers.taken;
  const run = taskRunner({
    plan,
    open: (job, signal) =>
      openJob(job, { plan, source, target: build.store, documents, cachedDocument, signal }),
    ...(scratch && { scratch: scratch.store }),
    buffers,
    threads: 1,
    driver: plan.execution.driver,
    writeEmptyChunks,
    checksums,
  });
  try {
    await runInline(plan, run, {
      budget: new ByteBudget(maxMemory),
      note,
      done,
      stop,
      stageEnded: async (stage) => scratch?.removePass(stage - 1),
      signal,
    });
  } finally {
    close();
  }
  log.notePeak(buffers.peak);
}
