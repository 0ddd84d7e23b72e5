import type { Store, TargetBuild } from "../../../stores/store.ts";
import { storeTraits } from "../../../stores/store-traits.ts";
import type { BufferPool } from "../../../streams/buffer-pool.ts";
import { ByteBudget } from "../../../streams/byte-budget.ts";
import type { Plan } from "../../plan/plan.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import { openJob } from "../open-job.ts";
import type { RunLog } from "../run-log.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { type InlineOptions, runInline } from "./inline.ts";
import type { TaskStats } from "./messages.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import { taskBuffers } from "./task-buffers.ts";
import { taskRunner } from "./task-runner.ts";
import type { OtherThreads } from "./threads.ts";

export interface RunTasksOptions {
  readonly source: Store;
  readonly build: TargetBuild;
  /** Where scratch objects lie, and by which spec another thread opens the same place. */
  readonly scratch?: Scratch | undefined;
  /** Documents of the source that were read before, and will be held to be unchanged. */
  readonly wasRead?: ((key: string) => Uint8Array | undefined) | undefined;
  /** The target's documents by key. */
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly buffers: BufferPool;
  /** Bytes that tasks may lease. */
  readonly maxMemory: number;
  readonly log: RunLog;
  readonly writeEmpty?: boolean | undefined;
  readonly checksums?: boolean | undefined;
  /** Tasks that an earlier run has done. */
  readonly done: TaskSet;
  /** Aborted when no more tasks are to begin. */
  readonly stop?: AbortSignal | undefined;
  /** Undefined where this thread alone can open the stores. */
  readonly threads: OtherThreads | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan: in threads, where others can open the same stores, else in this one.
 *
 * @throws the first failure of any task; `aborted` when it was stopped before its last one.
 */
export async function runTasks(plan: Plan, options: RunTasksOptions): Promise<void> {
  if (plan.stages.every((tasks) => tasks === 0)) return;
  const { buffers, log, maxMemory, threads } = options;
  const note = (stats: TaskStats) => log.tasksNoted(stats);
  if (threads === undefined) return inline(plan, { ...options, note });
  const { runThreads } = await import("./threads.ts");
  const control = new SharedScheduler(plan.stages, maxMemory, threads.pool.threads);
  log.expectedBytes = () => buffers.taken + control.taken;
  await runThreads(plan, { ...options, ...threads, control, note });
  log.notePeak(control.peak + threads.pool.ownPeaks);
}

async function inline(plan: Plan, options: RunTasksOptions & Pick<InlineOptions, "note">): Promise<void> {
  const { source, build, scratch, documents, maxMemory, log, note, writeEmpty, checksums } = options;
  const { wasRead, done, stop, signal } = options;
  // Stores of a program may keep, or take away, what they are given.
  const leave = [plan.source.store, plan.target.store].some((spec) => !storeTraits(spec).isReopenable);
  const { buffers, close } = taskBuffers(plan, { limit: maxMemory, leave });
  log.expectedBytes = () => options.buffers.taken + buffers.taken;
  const run = taskRunner({
    plan,
    open: (job, signal) => openJob(job, { plan, source, target: build.store, documents, wasRead, signal }),
    ...(scratch && { scratch: scratch.store }),
    buffers,
    threads: 1,
    driver: plan.execution.driver,
    writeEmpty,
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
