import { existsSync } from "node:fs";
import { blockingFileCalls } from "../../../stores/files/file-calls.ts";
import { overloadCounts } from "../../../stores/remote/throttle-signals.ts";
import type { Store, StoreSpec, TargetBuild } from "../../../stores/store.ts";
import { storeTraits } from "../../../stores/store-traits.ts";
import { abortError, onAbort, throwIfAborted } from "../../../util/abort.ts";
import { pause } from "../../../util/pause.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { ioPerThread } from "./io-per-thread.ts";
import type { TaskStats } from "./messages.ts";
import { openSame } from "./open-same.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import { taskBuffers } from "./task-buffers.ts";
import { loopTasks } from "./task-loop.ts";
import { taskRunner } from "./task-runner.ts";
import { watchThreads } from "./watchdog.ts";
import { withStopCheck } from "./with-stop-check.ts";
import { type OtherThreads, startWorker, type WorkerSettings, type WorkerThread } from "./worker-thread.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

export { SharedScheduler } from "./shared-scheduler.ts";

export interface ThreadsOptions extends OtherThreads {
  readonly source: Store;
  readonly build: TargetBuild;
  readonly scratch?: Scratch | undefined;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly writeEmpty?: boolean | undefined;
  readonly verify?: boolean | undefined;
  /** Told now and then what tasks did, whichever thread they ran in. */
  readonly note: (notes: TaskStats) => void;
  readonly control: SharedScheduler;
  readonly worker?: WorkerSettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The script of a worker thread: it lies beside this one, unless somebody put the library into a bundle of theirs. */
const SCRIPT = new URL("./worker.js", import.meta.url);
/** Threads that are told to stop have so long to end by themselves. */
const GRACE_MS = 300;

/**
 * Starts the workers of a run of so many threads, one by one as they are asked for. While they load their scripts, what
 * they will work on is opened.
 */
export function* startWorkers(
  threads: number,
  { script = SCRIPT, resourceLimits }: WorkerSettings = {},
): Generator<WorkerThread, void> {
  if (!existsSync(script)) return;
  for (let thread = 1; thread < threads; thread++) yield startWorker(script, resourceLimits);
}

/**
 * Runs all tasks of a plan in this thread and in workers beside it. Which task is whose is told by a counter that they
 * share. A build that can be opened again is written by the thread that encodes; one with a single writer is written
 * here, and others hand over what they encoded. Files are read and written by calls that block; between them this thread
 * sees to events now and then.
 *
 * @throws the first failure of any thread, when all have ended; `resource-limit` for a worker that ran out of memory,
 *   `transient` for one that ended for no reason that it told.
 */
export async function runThreads(plan: Plan, options: ThreadsOptions): Promise<void> {
  const { build, control, note, signal, workers } = options;
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const fail = (error: unknown) => {
    if (!stop.signal.aborted) stop.abort(error);
    control.stop();
    for (const worker of workers) worker.send({ type: "stop" });
  };
  throwIfAborted(signal);
  const stopListening = onAbort(signal, () => fail(abortError(signal?.reason)));
  const unwatch = watchThreads(() => control.progress, fail, options.worker?.patience);
  try {
    const sourceVersion = await options.source.version?.({ signal });
    for (const worker of workers)
      worker.begin(startOf(plan, sourceVersion, options), { note, target: build.store });
    const others = Promise.all(workers.map(({ ended }) => ended.catch(fail)));
    await workHere(plan, options, stop).catch(fail);
    await Promise.race([others, stopped.then(() => pause(GRACE_MS))]);
    stop.signal.throwIfAborted();
  } finally {
    unwatch();
    stopListening();
    await Promise.all(workers.map((worker) => worker.end()));
  }
}

function startOf(plan: Plan, sourceVersion: string | undefined, options: ThreadsOptions) {
  const { sourceSpec, build, scratch, documents, control, workers } = options;
  const { writeEmpty = false, verify = false } = options;
  return {
    plan,
    source: sourceSpec,
    sourceVersion,
    target: plan.execution.writer === "first-thread" ? undefined : build.spec,
    scratch: scratch?.spec,
    documents,
    writeEmpty,
    verify,
    control: control.memory,
    overloads: overloadCounts(),
    threads: workers.length + 1,
  };
}

/** The tasks that are dealt to this thread. */
async function workHere(plan: Plan, options: ThreadsOptions, stop: AbortController): Promise<void> {
  const { source, sourceSpec, build, scratch, documents, control, workers, note } = options;
  const { writeEmpty, verify } = options;
  const threads = workers.length + 1;
  const lookUp = yieldToEventLoop();
  const blocking = async <S extends Store>(store: S, spec: StoreSpec | undefined, exclusive: boolean) => {
    if (spec === undefined || !storeTraits(spec).isFileBacked) return store;
    const version = exclusive ? undefined : await store.version?.();
    const how = { exclusive, files: blockingFileCalls };
    const opened = (await openSame(spec, version, how)) as unknown as S;
    return withStopCheck(opened, lookUp) as unknown as S;
  };
  const { driver, writer } = plan.execution;
  const reading = await blocking(source, sourceSpec, false);
  const { buffers, close } = taskBuffers(plan, { control, threads });
  const run = taskRunner({
    plan,
    source: reading,
    target: await blocking(build.store, writer === "first-thread" ? undefined : build.spec, true),
    ...(scratch && { scratch: await blocking(scratch.store, scratch.spec, true) }),
    documents,
    buffers,
    io: ioPerThread(plan, threads),
    writeEmpty,
    verify,
    driver,
  });
  try {
    const stageEnded = async (stage: number) => {
      buffers.clear();
      await scratch?.removePass(stage - 1);
    };
    await loopTasks(plan, run, { control, threads, note, stop, stageEnded });
  } finally {
    close();
    if (reading !== source) await reading.close?.();
  }
}
