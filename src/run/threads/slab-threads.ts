import { isFixed } from "../../meta/data-type.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import { abortError, onAbort } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import type { Slab } from "../slabs/growing-slab.ts";
import { SlabQueue } from "../slabs/slab-queue.ts";
import { type SlabReading, slabRunner, slabTasks } from "../slabs/slab-tasks.ts";
import { loopTasks } from "../task-loop.ts";
import { MAX_WAITING, type SlabResult, type SlabsWork } from "./messages.ts";
import type { WorkerSettings } from "./pool-thread.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import { type PoolRun, WorkerPool } from "./worker-pool.ts";

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

/**
 * Reads slabs in C order with tasks in this thread and in workers that it starts. Each thread is dealt the next slab
 * that nobody has begun. Returns undefined if there is too little work or memory.
 *
 * @throws (the iterator) the first failure of any thread.
 */
export async function slabsOfThreads(
  slabs: SlabReading,
  { source, maxMemory, threads: most, worker = {} }: SlabThreadsOptions,
): Promise<AsyncGenerator<Slab> | undefined> {
  const { array, pipeline, plan, concurrency } = slabs;
  const { dataType } = pipeline.spec;
  if (!isFixed(dataType)) return undefined;
  const slabBytes = pooledSize(product(plan.slabShape) * dataType.size);
  const memoryEach = plan.job.leaseBytes + MAX_WAITING * slabBytes;
  const isWorthwhile = plan.chunksRead * pipeline.decodedSize >= WORTH_A_THREAD;
  const wanted = worker.threads ?? (isWorthwhile ? most : 1);
  const threads = Math.min(wanted, plan.job.tasks, Math.floor(maxMemory / memoryEach));
  if (!(threads > 1)) return undefined;
  const { path, documents } = array;
  const reading = { ...array.reading, zarrFormat: array.layout.zarrFormat };
  const { nodeIn } = await import("../../hierarchy/open/in-any-format.ts");
  if (nodeIn(documents, array.store, path, reading)?.kind !== "array") return undefined;
  const each = {
    maxMemory: Math.floor(maxMemory / threads),
    concurrency: Math.max(1, Math.floor(concurrency / threads)),
  };
  const work = { kind: "slabs" as const, path, documents, reading, plan, ...each };
  const pool = await WorkerPool.start<SlabsWork, SlabResult>(threads, worker);
  if (pool.threads === 1) return undefined;
  // Workers keep the process alive only while a reader waits for a slab: a reader may drop the iterator without notice.
  pool.keepProcess(false);
  const control = new SharedScheduler(plan.stages, maxMemory, threads);
  return runInOrder(slabs, pool, { work, source, control });
}

async function* runInOrder(
  reading: SlabReading,
  pool: WorkerPool<SlabsWork, SlabResult>,
  shared: Pick<PoolRun<SlabsWork, SlabResult>, "work" | "source" | "control">,
): AsyncGenerator<Slab> {
  const stop = new AbortController();
  let isAwaited = false;
  const queue = new SlabQueue((isWaiting) => {
    isAwaited = isWaiting;
    pool.keepProcess(isWaiting);
  });
  const fail = (error: unknown) => {
    queue.fail(error);
    stop.abort(error);
  };
  let here: Promise<void> | undefined;
  const stopListening = onAbort(reading.signal, () => fail(abortError(reading.signal.reason)));
  try {
    const sourceVersion = await reading.array.store.version?.();
    const others = pool.run({
      ...shared,
      sourceVersion,
      onResult: ({ number, slab }, giveBack) => {
        const give = () => giveBack([{ number, buffer: slab.data.bytes.buffer as ArrayBuffer }]);
        void queue.offer(slab, number, give);
      },
      isAwaited: () => isAwaited,
    });
    others.catch(fail);
    const how = { control: shared.control, note: () => {}, stop, dealtAtOnce: 1 };
    here = loopTasks(slabTasks(reading), slabRunner(reading, queue), how).catch(fail);
    yield* queue.inOrder(reading.plan.job.tasks);
    pool.keepProcess(true);
    isAwaited = true;
    await Promise.all([others, here]);
    reading.array.store.checks?.addParts(pool.parts);
  } finally {
    stopListening();
    stop.abort();
    await here;
    await pool.end();
  }
}
