import { openKernelHeap } from "../../codecs/kernels/kernels.ts";
import { nodeIn } from "../../hierarchy/open/in-any-format.ts";
import { accessedBy } from "../../stores/access.ts";
import { assertWritable } from "../../stores/assertions.ts";
import type { MissingNote } from "../../stores/directory/missing-values.ts";
import { onRetry } from "../../stores/remote/retry-requests.ts";
import { joinCounters } from "../../stores/remote/server-counters.ts";
import type { Store, StoreSpec } from "../../stores/store.ts";
import { type OpenStoreOptions, openStore } from "../../stores/url.ts";
import { sourceChanged } from "../../stores/version.ts";
import { withBlockingCalls } from "../../stores/with/blocking-calls.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { abortError, onAbort } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import { openJob } from "../open-job.ts";
import type { TakeSlab } from "../slabs/slab-queue.ts";
import { slabDriver, slabRunner, slabTasks } from "../slabs/slab-tasks.ts";
import { loopTasks, taskBuffers, taskRunner } from "../task-loop.ts";
import { TaskSet } from "../task-set.ts";
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

/** Runs a worker thread until the run ends. */
export function serveWorker(watchMissing?: WatchMissing): Promise<void> {
  return servePool<AnyWork, TasksResult | SlabResult>(
    (work, context) => (work.kind === "tasks" ? serveTasks(work, context) : serveSlabs(work, context)),
    watchMissing,
  );
}

const STOPPED = new ZarrflowError("aborted", "the run has stopped");

/** Everything that a worker thread uses to do its work. */
export interface WorkerContext<Result> {
  readonly control: SharedScheduler;
  /** Aborted to stop the thread. */
  readonly stop: AbortController;
  /** The source, opened by this thread. */
  readonly source: Store;
  /** Opens a store in which only this thread writes. */
  openExclusive(spec: StoreSpec): Promise<Store>;
  send(result: Result, buffers?: readonly ArrayBuffer[]): void;
  /** Calls `take` with the buffers that are sent back. */
  onBack(take: (buffers: readonly ReturnedBuffer[]) => void): void;
}

/**
 * Reports folders in which values of the source are missing. The thread that started the run checks them after reading.
 */
export type WatchMissing = (
  source: StoreSpec,
  onNote: (note: MissingNote) => void,
) => { end(): void } | undefined;

/**
 * Runs the worker's side of a `WorkerPool`: waits for work, does it and reports how it ended.
 *
 * @param work does the work; after the run has stopped, its failure is not reported as the worker's own
 */
export async function servePool<Work, Result>(
  work: (what: Work, context: WorkerContext<Result>) => Promise<void>,
  watchMissing?: WatchMissing,
): Promise<void> {
  const port = poolPort();
  const stop = new AbortController();
  const post = (message: FromWorker<Result>, buffers: readonly ArrayBuffer[] = []) =>
    port.post(message, buffers);
  let take: (buffers: readonly ReturnedBuffer[]) => void = () => {};
  let control: SharedScheduler | undefined;
  // The message arrives once the sources and targets are open; this thread loads its scripts in the meantime.
  const start = await new Promise<WorkerStart<Work> | undefined>((resolve) => {
    port.listen((received) => {
      const message = received as ToWorker<Work>;
      if (message.type === "start") resolve(message.start);
      else if (message.type === "back") take(message.buffers);
      else if (message.type === "ended") control?.hear(0, message.tasks);
      else {
        control?.stop();
        if (message.atOnce) stop.abort(STOPPED);
        resolve(undefined);
      }
    });
  });
  try {
    if (start) {
      if (start.counters) joinCounters(start.counters);
      onRetry(({ error, ...retry }) => post({ type: "retry", retry, error: packError(error) }));
      const shared = SharedScheduler.of(start.control);
      control = shared;
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
      await work(start.work, {
        control: shared,
        stop,
        source,
        openExclusive: (spec) => open(spec, undefined, true),
        send: (result, buffers) => post({ type: "result", result }, buffers),
        onBack: (taker) => {
          take = taker;
        },
      });
      missing?.end();
      const parts = source.checks?.takeParts() ?? [];
      if (parts.length > 0) post({ type: "parts", parts });
    }
    post({ type: "done", ownPeak: control?.ownPeak ?? 0 });
  } catch (error) {
    // The thread that stopped the run reports the reason.
    if (error === STOPPED) post({ type: "done", ownPeak: control?.ownPeak ?? 0 });
    else post({ type: "failed", error: packError(error) });
  }
  port.close();
}

/** Runs the slab tasks dealt to a worker thread. */
export async function serveSlabs(
  { path, documents, maxMemory, reading: how, ...work }: SlabsWork,
  { control, stop, source, send, onBack }: WorkerContext<SlabResult>,
): Promise<void> {
  const node = nodeIn(documents, source, path, how);
  if (node?.kind !== "array")
    throw new ZarrflowError("source-changed", "there is no array any more", { path });
  const array = node.innerChunks();
  const buffers = new BufferPool(maxMemory, { source: openKernelHeap()?.heap });
  const pipeline = await array.pipeline();
  const driver = slabDriver(array, work.plan);
  const reading = { ...work, driver, array, pipeline, buffers, signal: stop.signal };
  const sender = new SlabSender(send);
  onBack((returned) => sender.returned(returned));
  const run = slabRunner(reading, sender);
  await loopTasks(slabTasks(reading), run, { control, note: () => {}, stop, dealtAtOnce: 1 });
  await source.close?.();
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

/** Runs the tasks dealt to a worker thread. */
export async function serveTasks(
  { plan, target, scratch, documents, done, ...how }: TasksWork,
  { control, stop, source, openExclusive, send, onBack }: WorkerContext<TasksResult>,
): Promise<void> {
  const share = control.shareOf(plan.budget.maxMemory);
  const { buffers } = taskBuffers(plan, { ...share, leave: target === undefined });
  const sink = new TransferSink((values, sent) => send({ kind: "values", values }, sent), buffers);
  onBack((stored) => sink.stored(stored));
  const writable = async (spec: StoreSpec) => assertWritable(await openExclusive(spec));
  const written = target ? await writable(target) : sink;
  const run = taskRunner({
    ...how,
    plan,
    open: (job, signal) => openJob(job, { plan, source, target: written, documents, signal }),
    ...(scratch && { scratch: await writable(scratch) }),
    buffers,
    threads: control.threads,
    driver: plan.execution.driver,
  });
  const stageEnded = async () => buffers.clear();
  await loopTasks(plan, run, {
    control,
    note: (notes) => send({ kind: "notes", notes: withErrors(notes, packError) }),
    done: new TaskSet(done),
    stop,
    stageEnded,
  });
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
