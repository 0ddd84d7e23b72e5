import { nodeIn } from "../../hierarchy/open/in-any-format.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import { accessedBy } from "../../stores/access.ts";
import { assertWritable } from "../../stores/assertions.ts";
import type { MissingNote } from "../../stores/directory/missing-values.ts";
import { onRetry } from "../../stores/remote/retry-requests.ts";
import { joinCounters } from "../../stores/remote/server-counters.ts";
import type { Store, StoreSpec, WritableStore } from "../../stores/store.ts";
import { type OpenStoreOptions, openStore } from "../../stores/url.ts";
import { sourceChanged } from "../../stores/version.ts";
import { withBlockingCalls } from "../../stores/with/blocking-calls.ts";
import { abortError, onAbort } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import { openJob } from "../open-job.ts";
import { type RunTasksOptions, runTasks } from "../run-tasks.ts";
import { TaskSet } from "../scheduler.ts";
import type { TakeSlab } from "../slabs/slab-queue.ts";
import { slabRunner, slabTasks } from "../slabs/slab-tasks.ts";
import { REPORT_INTERVAL_MS, TaskReporter, type TaskStats } from "../task-reporter.ts";
import { type TaskRunner, taskBuffers, taskRunner } from "../task-runner.ts";
import {
  type AnyWork,
  type FromWorker,
  MAX_WAITING,
  packError,
  type ReturnedBuffer,
  type SlabResult,
  type SlabsWork,
  type TasksResult,
  type TasksWork,
  type ToWorker,
  type WorkerStart,
  withErrors,
} from "./messages.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import { TransferSink } from "./transfer-sink.ts";

/**
 * Runs the worker's side of a `WorkerPool`: waits for work, runs the tasks that are dealt to this thread, and reports
 * how that ended.
 */
export async function serveWorker(watchMissing?: WatchMissing): Promise<void> {
  const port = poolPort();
  const stop = new AbortController();
  const post = (message: FromWorker<AnyResult>, buffers: readonly ArrayBuffer[] = []) =>
    port.post(message, buffers);
  let take: (buffers: readonly ReturnedBuffer[]) => void = () => {};
  let scheduler: SharedScheduler | undefined;
  // The message arrives once the sources and targets are open; this thread loads its scripts in the meantime.
  const start = await new Promise<WorkerStart<AnyWork> | undefined>((resolve) => {
    port.listen((received) => {
      const message = received as ToWorker<AnyWork>;
      if (message.type === "start") resolve(message.start);
      else if (message.type === "back") take(message.buffers);
      else if (message.type === "ended") scheduler?.hear(0, message.tasks);
      else {
        scheduler?.stop();
        if (message.atOnce) stop.abort(STOPPED);
        resolve(undefined);
      }
    });
  });
  try {
    if (start) {
      if (start.counters) joinCounters(start.counters);
      onRetry(({ error, ...retry }) => post({ type: "retry", retry, error: packError(error) }));
      const shared = SharedScheduler.of(start.shared);
      scheduler = shared;
      shared.tellBy(() => post({ type: "ended", tasks: shared.endedBut(0) }));
      const open = async (spec: StoreSpec, version: string | undefined, exclusive: boolean) => {
        const store = await openSame(spec, version, { exclusive });
        // A blocking thread receives no messages, so each call checks whether the thread must stop.
        return withBlockingCalls(store, () => {
          shared.beat();
          return shared.isStopped ? Promise.reject(STOPPED) : undefined;
        });
      };
      const accessed = accessedBy(start.source, start.access);
      const missing = watchMissing?.(accessed, (note) => post({ type: "missing", note }));
      const source = await open(accessed, start.sourceVersion, false);
      const context: WorkerContext = {
        scheduler: shared,
        signal: stop.signal,
        source,
        openExclusive: async (spec) => assertWritable(await open(spec, undefined, true)),
        send: (result, buffers) => post({ type: "result", result }, buffers),
        onBack: (taker) => {
          take = taker;
        },
      };
      const { work } = start;
      const { plan, run, ...how } = await (work.kind === "tasks"
        ? planTasks(work, context)
        : slabTasksOf(work, context));
      await runTasks(plan, run, { ...how, scheduler: shared, signal: stop.signal });
      missing?.end();
      const parts = source.checks?.takeParts() ?? [];
      if (parts.length > 0) post({ type: "parts", parts });
      await source.close?.();
    }
    post({ type: "done", ownPeak: scheduler?.ownPeak ?? 0 });
  } catch (error) {
    // The thread that stopped the run reports the reason.
    if (error === STOPPED) post({ type: "done", ownPeak: scheduler?.ownPeak ?? 0 });
    else post({ type: "failed", error: packError(error) });
  }
  port.close();
}

const STOPPED = new ZarrflowError("aborted", "the run has stopped");

/**
 * Reports folders in which values of the source are missing. The thread that started the run checks them after reading.
 */
export type WatchMissing = (
  source: StoreSpec,
  onNote: (note: MissingNote) => void,
) => { end(): void } | undefined;

type AnyResult = TasksResult | SlabResult;

/** Everything that a worker thread uses to do its work. */
interface WorkerContext {
  readonly scheduler: SharedScheduler;
  /** Aborted to stop the thread. */
  readonly signal: AbortSignal;
  /** The source, opened by this thread. */
  readonly source: Store;
  /** Opens a store in which only this thread writes. */
  openExclusive(spec: StoreSpec): Promise<WritableStore>;
  send(result: AnyResult, buffers?: readonly ArrayBuffer[]): void;
  /** Calls `take` with the buffers that are sent back. */
  onBack(take: (buffers: readonly ReturnedBuffer[]) => void): void;
}

/** The tasks that threads divide among themselves, and how each runs them. */
interface WorkerTasks extends Omit<RunTasksOptions, "scheduler" | "signal"> {
  readonly plan: TaskPlan;
  readonly run: TaskRunner;
}

/** The tasks of a plan. */
async function planTasks(
  { plan, target, scratch, documents, done, ...how }: TasksWork,
  { scheduler, source, openExclusive, send, onBack }: WorkerContext,
): Promise<WorkerTasks> {
  const { buffers } = taskBuffers(plan, { ...scheduler.buffers, leave: target === undefined });
  const sink = new TransferSink((values, sent) => send({ kind: "values", values }, sent), buffers);
  onBack((stored) => sink.stored(stored));
  const written = target ? await openExclusive(target) : sink;
  const run = taskRunner({
    ...how,
    plan,
    open: (job, signal) => openJob(job, { plan, source, target: written, documents, signal }),
    ...(scratch && { scratch: await openExclusive(scratch) }),
    buffers,
    threads: scheduler.threads,
  });
  const report = (notes: TaskStats) => send({ kind: "notes", notes: withErrors(notes, packError) });
  const reporter = new TaskReporter(scheduler.thread, REPORT_INTERVAL_MS, report);
  return { plan, run, reporter, done: new TaskSet(done), stageEnded: async () => buffers.clear() };
}

/** The tasks that make slabs of an array. */
async function slabTasksOf(
  { path, documents, reading: how, plan, concurrency }: SlabsWork,
  { scheduler, signal, source, send, onBack }: WorkerContext,
): Promise<WorkerTasks> {
  const node = nodeIn(documents, source, path, how);
  if (node?.kind !== "array")
    throw new ZarrflowError("source-changed", "the array no longer exists", { path });
  const array = node.innerChunks();
  const tasks = slabTasks(array, plan, concurrency);
  const { buffers } = taskBuffers(tasks, scheduler.buffers);
  const sender = new SlabSender(send);
  onBack((returned) => sender.returned(returned));
  const pipeline = await array.pipeline();
  const reading = { array, pipeline, plan, tasks, buffers, signal, threads: scheduler.threads };
  return { plan: tasks, run: slabRunner(reading, sender), dealtAtOnce: 1 };
}

/** Sends slabs to the thread that passes them to their reader, as copies in buffers that are sent back. */
class SlabSender {
  readonly #send: (result: SlabResult, buffers: readonly ArrayBuffer[]) => void;
  readonly #free: ArrayBuffer[] = [];
  #waiting = 0;
  #changed = () => {};

  constructor(send: (result: SlabResult, buffers: readonly ArrayBuffer[]) => void) {
    this.#send = send;
  }

  /** Receives buffers that the other thread no longer needs. */
  returned(buffers: readonly ReturnedBuffer[]): void {
    this.#free.push(...buffers.map(({ buffer }) => buffer));
    this.#waiting -= buffers.length;
    this.#changed();
  }

  /** Sends a slab, after waiting until the reader has taken enough of the slabs before it. */
  readonly offer: TakeSlab = async ({ region, data }, number, give, signal) => {
    const stopListening = onAbort(signal, () => this.#changed());
    while (this.#waiting === MAX_WAITING && !signal?.aborted) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    stopListening();
    if (signal?.aborted) throw abortError(signal.reason);
    const bytes = roomFor(data.bytes.length, this.#free.pop());
    bytes.set(data.bytes);
    give();
    this.#waiting++;
    this.#send({ number, slab: { region, data: { ...data, bytes } } }, [bytes.buffer]);
  };
}

function roomFor(length: number, buffer: ArrayBuffer | undefined): Uint8Array<ArrayBuffer> {
  return buffer && buffer.byteLength >= length ? new Uint8Array(buffer, 0, length) : new Uint8Array(length);
}

/** Connection of a worker to its pool. */
export interface PoolPort {
  post(message: unknown, buffers: readonly ArrayBuffer[]): void;
  listen(take: (message: unknown) => void): void;
  close(): void;
}

/** Returns the port of a Node worker thread or of a web worker. */
export function poolPort(): PoolPort {
  const port = builtin("node:worker_threads")?.parentPort;
  if (port) {
    return {
      post: (message, buffers) => port.postMessage(message, buffers),
      listen: (take) => void port.on("message", take),
      close: () => port.close(),
    };
  }
  return {
    post: (message, buffers) => globalThis.postMessage(message, { transfer: [...buffers] }),
    listen: (take) => globalThis.addEventListener("message", ({ data }) => take(data)),
    close: () => globalThis.close(),
  };
}

/**
 * Opens a store that another thread has open.
 *
 * @param version of the store in that thread, if it has one
 * @throws `source-changed` if another store has taken its place.
 */
export async function openSame(
  spec: StoreSpec,
  version: string | undefined,
  options: OpenStoreOptions,
): Promise<Store> {
  const store = await openStore(spec, options);
  if (version === undefined || (await store.version?.()) === version) return store;
  await store.close?.();
  throw sourceChanged("the source was replaced").addContext({
    store: store.description,
  });
}
