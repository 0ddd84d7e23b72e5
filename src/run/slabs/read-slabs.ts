import { openKernelHeap, WORTH_A_HEAP } from "../../codecs/kernels/kernels.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { type Context, type GridStrategy, leaseMemory } from "../../hierarchy/read-options.ts";
import { planSlabs } from "../../plan/slabs.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { specOf } from "../../stores/url.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import type { Selection } from "../../streams/selection.ts";
import { followSignals } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import { openScratch, possibleStrategy } from "../scratch/open-scratch.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { runInline } from "../task-loop.ts";
import type { WorkerSettings } from "../threads/pool-thread.ts";
import { coresAvailable, singleThreadReason } from "../threads/thread-count.ts";
import type { Slab } from "./growing-slab.ts";
import { SlabQueue } from "./slab-queue.ts";
import { type SlabReading, slabDriver, slabRunner, slabTasks } from "./slab-tasks.ts";

export interface ReadSlabsOptions {
  readonly maxMemory: number;
  readonly concurrency: number;
  /**
   * Maximum number of threads that read and decode, including this one; by default one per core. Small slices use one.
   */
  readonly threads?: number | undefined;
  /** Strategy for making slabs; by default the one predicted to be faster. */
  readonly strategy?: GridStrategy | undefined;
  /** Place for scratch objects; by default the system's temporary folder. */
  readonly scratch?: StoreSpec | undefined;
  readonly worker?: WorkerSettings | undefined;
  readonly context?: Context | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a selection as slabs in C order, within a memory budget. The next slabs are read while one is in use. If chunks
 * would be decoded too often, all of them are written to scratch objects before the first slab.
 *
 * @throws what reading and decoding throw; `no-space` if scratch objects do not fit.
 */
export async function* readSlabs(
  source: ZarrArray,
  selection: Selection,
  { maxMemory, concurrency, threads, worker, scratch: place, context, signal, ...options }: ReadSlabsOptions,
): AsyncGenerator<Slab> {
  if (product(selection.shape) === 0) return;
  const array = source.innerChunks();
  const pipeline = await array.pipeline();
  const strategy = possibleStrategy(options.strategy, place);
  const plan = planSlabs({ array, pipeline, selection, maxMemory, concurrency, strategy });
  const isLarge = plan.chunksRead * pipeline.decodedSize >= WORTH_A_HEAP;
  const { passes, cost } = plan.job;
  const mayShare = passes === undefined && (isLarge || worker !== undefined);
  // threads share the whole budget, even if the plan for one of them needs little
  const needed = mayShare && threads !== 1 ? maxMemory : Math.min(maxMemory, plan.predictedPeak);
  const release = await leaseMemory({ context, signal }, needed);
  const open = isLarge ? openKernelHeap() : undefined;
  const buffers = new BufferPool(maxMemory, { source: open?.heap });
  const stop = new AbortController();
  const following = followSignals(signal, stop.signal);
  let scratch: Scratch | undefined;
  try {
    if (passes) scratch = await openScratch({ place, bytes: cost?.scratchBytes ?? 0 });
    const how = { driver: slabDriver(array, plan), buffers, concurrency, signal: following.signal };
    const reading = { array, pipeline, plan, ...how, scratch: scratch?.store };
    const others = mayShare && (await otherThreads(reading, { threads, maxMemory, worker }));
    yield* others || slabsInOrder(reading, { maxMemory, scratch, stop });
  } finally {
    stop.abort();
    following.end();
    buffers.clear();
    open?.close();
    release();
    await scratch?.remove();
  }
}

/** Slabs made by several threads; undefined if other threads cannot read the source or there is too little work. */
async function otherThreads(
  reading: SlabReading,
  { threads, ...options }: Pick<ReadSlabsOptions, "threads" | "maxMemory" | "worker">,
): Promise<AsyncGenerator<Slab> | undefined> {
  const source = specOf(reading.array.store);
  if (threads === 1 || source === undefined || !storeTraits(source).isFileBacked) return undefined;
  if (singleThreadReason({ source, target: source, isPaced: false }) !== undefined) return undefined;
  const { slabsOfThreads } = await import("../threads/slab-threads.ts");
  return slabsOfThreads(reading, { ...options, source, threads: threads ?? (await coresAvailable()) });
}

/** Runs the tasks of a reading. Slabs are made while the previous one is in use. */
async function* slabsInOrder(
  reading: SlabReading,
  { maxMemory, scratch, stop }: { maxMemory: number; scratch: Scratch | undefined; stop: AbortController },
): AsyncGenerator<Slab> {
  const { plan, signal } = reading;
  const queue = new SlabQueue();
  const running = runInline(slabTasks(reading), slabRunner(reading, queue), {
    budget: new ByteBudget(maxMemory),
    stageEnded: async (stage) => scratch?.removePass(stage - 1),
    signal,
  }).catch((error: unknown) => queue.fail(error));
  try {
    yield* queue.inOrder(plan.job.tasks);
  } finally {
    stop.abort();
    await running;
  }
}
