import type { Store, StoreSpec, TargetBuild } from "../../../stores/store.ts";
import { withBlockingCalls } from "../../../stores/with/blocking-calls.ts";
import { abortError, onAbort, throwIfAborted } from "../../../util/abort.ts";
import { BlockingIo } from "../../../util/blocking-io.ts";
import type { Plan } from "../../plan/plan.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import { openJob } from "../open-job.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { type TaskStats, type TasksResult, type TasksWork, unpackError, withErrors } from "./messages.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import { taskBuffers } from "./task-buffers.ts";
import { loopTasks } from "./task-loop.ts";
import { taskRunner } from "./task-runner.ts";
import type { PoolRun, WorkerPool } from "./worker-pool.ts";

/** The threads that run tasks beside the one that began a flow. */
export interface OtherThreads {
  readonly pool: WorkerPool<TasksWork, TasksResult>;
  /** Opens the source in each of them. */
  readonly sourceSpec: StoreSpec;
}

export interface ThreadsOptions extends OtherThreads {
  readonly source: Store;
  readonly build: TargetBuild;
  readonly scratch?: Scratch | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly writeEmpty?: boolean | undefined;
  readonly checksums?: boolean | undefined;
  /** Tasks that an earlier run has done. */
  readonly done: TaskSet;
  /** Called now and then with what tasks did, whichever thread they ran in. */
  readonly note: (notes: TaskStats) => void;
  readonly control: SharedScheduler;
  /** Aborted when no more tasks are to begin. */
  readonly stop?: AbortSignal | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs all tasks of a plan in this thread and in workers beside it. Which task is whose is decided by a counter that they
 * share. A build that can be opened again is written by the thread that encodes; one with a single writer is written
 * here, and others hand over what they encoded. Files are read and written by calls that block; between them this thread
 * sees to events now and then.
 *
 * @throws the first failure of any thread, when all have ended; `resource-limit` for a worker that ran out of memory,
 *   `transient` for one that ended without giving a reason; `aborted` when it was stopped before the last task.
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
  const { done, writeEmpty = false, checksums = false } = options;
  return {
    kind: "tasks",
    plan,
    target: plan.execution.writer === "first-thread" ? undefined : build.spec,
    scratch: scratch?.spec,
    documents,
    done: done.bits,
    writeEmpty,
    checksums,
  };
}

/** The tasks that are dealt to this thread. */
async function workHere(plan: Plan, options: ThreadsOptions, stop: AbortController): Promise<void> {
  const { source, build, scratch, documents, control, note, done, writeEmpty, checksums } = options;
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
    writeEmpty,
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
