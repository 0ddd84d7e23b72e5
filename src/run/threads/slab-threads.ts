import { isFixed } from "../../meta/data-type.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import { product } from "../../util/shape.ts";
import type { SlabQueue } from "../slabs/slab-queue.ts";
import type { SlabReading } from "../slabs/slab-tasks.ts";
import { MAX_WAITING, type SlabResult, type SlabsWork } from "./messages.ts";
import type { WorkerSettings } from "./pool-thread.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import { runInThreads } from "./threads.ts";
import { type GiveBack, WorkerPool } from "./worker-pool.ts";

/** Decoded bytes that justify a thread: starting and warming it up takes as long as decoding several hundred MiB. */
const WORTH_A_THREAD = 2 ** 30;

export interface SlabThreadsOptions {
  /** Spec by which other threads open the store of the array. */
  readonly source: StoreSpec;
  /** Maximum number of threads, including this one. */
  readonly threads: number;
  readonly maxMemory: number;
  readonly worker?: WorkerSettings | undefined;
}

/** The other threads that make the slabs of a reading. Each is dealt the next slab that nobody has begun. */
export interface SlabThreads {
  readonly scheduler: SharedScheduler;
  /** Tells that the reader starts or stops waiting for a slab, or for the end of the threads. */
  onWait(isWaiting: boolean): void;
  /** Runs the tasks of this thread with those of the others, whose slabs go into `queue`, and ends the threads. */
  run(runHere: (signal: AbortSignal) => Promise<void>, queue: SlabQueue): Promise<void>;
}

/** Starts threads for a reading; undefined if there is too little work or memory, or if none can be started. */
export async function slabThreads(
  { array, pipeline, plan, tasks, signal }: SlabReading,
  { source: sourceSpec, maxMemory, threads: most, worker = {} }: SlabThreadsOptions,
): Promise<SlabThreads | undefined> {
  const { dataType } = pipeline.spec;
  if (!isFixed(dataType)) return undefined;
  const slabBytes = pooledSize(product(plan.slabShape) * dataType.size);
  const memoryEach = plan.job.leaseBytes + MAX_WAITING * slabBytes;
  const isWorthwhile = plan.chunksRead * pipeline.decodedSize >= WORTH_A_THREAD;
  const wanted = worker.threads ?? (isWorthwhile ? most : 1);
  const threads = Math.min(wanted, plan.job.tasks, Math.floor(maxMemory / memoryEach));
  if (!(threads > 1)) return undefined;
  const { path, documents, store: source } = array;
  const reading = { ...array.reading, zarrFormat: array.layout.zarrFormat };
  const { nodeIn } = await import("../../hierarchy/open/in-any-format.ts");
  if (nodeIn(documents, source, path, reading)?.kind !== "array") return undefined;
  const pool = await WorkerPool.start<SlabsWork, SlabResult>(threads, worker);
  if (pool.threads === 1) return undefined;
  // Workers keep the process alive only while a reader waits for a slab: a reader may drop the iterator without notice.
  pool.keepProcess(false);
  const scheduler = new SharedScheduler(plan.stages, maxMemory, threads);
  const { concurrency } = tasks.execution;
  const work = { kind: "slabs" as const, path, documents, reading, plan, concurrency };
  let isAwaited = false;
  return {
    scheduler,
    onWait(isWaiting) {
      isAwaited = isWaiting;
      pool.keepProcess(isWaiting);
    },
    run(runHere, queue) {
      const onResult = ({ number, slab }: SlabResult, giveBack: GiveBack) => {
        const give = () => giveBack([{ number, buffer: slab.data.bytes.buffer as ArrayBuffer }]);
        void queue.offer(slab, number, give);
      };
      const how = { pool, source, sourceSpec, scheduler, work, onResult, isAwaited: () => isAwaited };
      return runInThreads(runHere, { ...how, signal });
    },
  };
}
