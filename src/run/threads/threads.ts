import type { Plan } from "../../plan/plan.ts";
import type { Store, StoreSpec, TargetBuild } from "../../stores/store.ts";
import { withBlockingCalls } from "../../stores/with/blocking-calls.ts";
import { abortError, onAbort, throwIfAborted } from "../../util/abort.ts";
import { BlockingIo } from "../../util/blocking-io.ts";
import { openJob } from "../open-job.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { loopTasks, taskBuffers, taskRunner } from "../task-loop.ts";
import type { TaskSet } from "../task-set.ts";
import { type TaskStats, type TasksResult, type TasksWork, unpackError, withErrors } from "./messages.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import type { PoolRun, WorkerPool } from "./worker-pool.ts";

/** Threads that run tasks beside the one that started the flow. */
export interface OtherThreads {
  readonly pool: WorkerPool<TasksWork, TasksResult>;
  /** Spec by which each thread opens the source. */
  readonly sourceSpec: StoreSpec;
}

export interface ThreadsOptions extends OtherThreads {
  readonly source: Store;
  readonly build: TargetBuild;
  readonly scratch?: Scratch | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly writeEmptyChunks?: boolean | undefined;
  readonly checksums?: boolean | undefined;
  /** Tasks completed by an earlier run. */
  readonly done: TaskSet;
  /** Called at intervals with the work of tasks in any thread. */
  readonly note: (notes: TaskStats) => void;
  readonly control: SharedScheduler;
  /** Abort it to prevent further tasks from starting. */
  readonly stop?: AbortSignal | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread and in workers. A shared counter assigns the tasks. If other threads can open
 * the target, each thread writes what it encodes; a single-writer target is written here, and workers transfer their
 * encoded chunks. Files are read and written with blocking calls; this thread handles events between them at intervals.
 *
 * @throws the first failure of any thread, once all have ended; `resource-limit` if a worker ran out of memory,
 *   `transient` if one ended without a reason; `aborted` if the run was stopped before its last task.
 */
export async function runThreads(plan: Plan, options: ThreadsOptions): Promise<void> {
  const { source, sourceSpec, build, control, note, signal, pool } = options;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const fail = (error: unknown) => {
    if (!stop.signal.aborted) stop.abort(error);
    control.stop();
    pool.stop();
  };
  const onResult: PoolRun<TasksWork, TasksResult>["onResult"] = async (result, giveBack) => {
    if (result.kind === "notes") return note(withErrors(result.notes, unpackError));
    const { values } = result;
    for (const { key, bytes } of values) await build.store.set(key, bytes);
    giveBack(values.map(({ number, bytes }) => ({ number, buffer: bytes.buffer as ArrayBuffer })));
  };
  throwIfAborted(signal);
  const stopListening = onAbort(signal, () => fail(abortError(signal?.reason)));
  const noMore = () => {
    control.stop();
    pool.stop(false);
  };
  if (options.stop?.aborted) noMore();
  const stopDealing = onAbort(options.stop, noMore);
  try {
    const sourceVersion = await source.version?.({ signal });
    const work = workOf(plan, options);
    const others = pool.run({ work, source: sourceSpec, sourceVersion, control, onResult }).catch(fail);
    await workHere(plan, options, stop).catch(fail);
    await Promise.race([others, stopped]);
    stop.signal.throwIfAborted();
    throwIfAborted(options.stop);
    source.checks?.addParts(pool.parts);
  } finally {
    stopListening();
    stopDealing();
    await pool.end();
  }
}

function workOf(plan: Plan, { build, scratch, documents, ...options }: ThreadsOptions): TasksWork {
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

/** Runs the tasks dealt to this thread. */
async function workHere(plan: Plan, options: ThreadsOptions, stop: AbortController): Promise<void> {
  const { source, build, scratch, documents, control, note, done, writeEmptyChunks, checksums } = options;
  const concurrency = new BlockingIo();
  const before = () => {
    control.beat();
    return concurrency.yield();
  };
  const { driver } = plan.execution;
  const { buffers, close } = taskBuffers(plan, control.shareOf(plan.budget.maxMemory));
  const reading = withBlockingCalls(source, before);
  const target = withBlockingCalls(build.store, before);
  const run = taskRunner({
    plan,
    open: (job, signal) => openJob(job, { plan, source: reading, target, documents, signal }),
    ...(scratch && { scratch: withBlockingCalls(scratch.store, before) }),
    buffers,
    threads: control.threads,
    writeEmptyChunks,
    checksums,
    driver,
  });
  try {
    const stageEnded = async (stage: number) => {
      buffers.clear();
      await scratch?.removePass(stage - 1);
    };
    await loopTasks(plan, run, { control, note, done, stop, stageEnded });
  } finally {
    close();
  }
}
