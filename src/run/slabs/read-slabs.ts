import { WORTH_A_HEAP } from "../../codecs/kernels/kernels.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { type Context, type GridStrategy, leaseMemory } from "../../hierarchy/read-options.ts";
import { planSlabs } from "../../plan/slabs.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { specOf } from "../../stores/url.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import type { Selection } from "../../streams/selection.ts";
import { followSignals } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import { runTasks } from "../run-tasks.ts";
import { LocalScheduler } from "../scheduler.ts";
import { openScratch, possibleStrategy } from "../scratch/open-scratch.ts";
import type { Scratch } from "../scratch/scratch.ts";
import { taskBuffers } from "../task-runner.ts";
import type { WorkerSettings } from "../threads/pool-thread.ts";
import type { SlabThreads } from "../threads/slab-threads.ts";
import { coresAvailable, singleThreadReason } from "../threads/thread-count.ts";
import type { Slab } from "./growing-slab.ts";
import { SlabQueue } from "./slab-queue.ts";
import { type SlabReading, slabRunner, slabTasks } from "./slab-tasks.ts";

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
  const { passes, cost } = plan.job;
  const isLarge = plan.chunksRead * pipeline.decodedSize >= WORTH_A_HEAP;
  const mayShare = passes === undefined && (isLarge || worker !== undefined) && threads !== 1;
  // threads share the whole budget, even if the plan for one of them needs little
  const needed = mayShare ? maxMemory : Math.min(maxMemory, plan.predictedPeak);
  const release = await leaseMemory({ context, signal }, needed);
  const tasks = slabTasks(array, plan, concurrency);
  const { buffers, close } = taskBuffers(tasks, { limit: maxMemory });
  const stop = new AbortController();
  const following = followSignals(signal, stop.signal);
  let scratch: Scratch | undefined;
  try {
    if (passes) scratch = await openScratch({ place, bytes: cost?.scratchBytes ?? 0 });
    const how = { buffers, signal: following.signal, scratch: scratch?.store };
    const reading = { array, pipeline, plan, tasks, ...how };
    const others = mayShare ? await otherThreads(reading, { threads, maxMemory, worker }) : undefined;
    const queue = new SlabQueue(others?.onWait);
    const scheduler = others?.scheduler ?? new LocalScheduler(plan.stages, new ByteBudget(maxMemory));
    const run = slabRunner({ ...reading, threads: scheduler.threads }, queue);
    const stageEnded = async (stage: number) => scratch?.removePass(stage - 1);
    const runHere = (signal: AbortSignal) =>
      runTasks(tasks, run, { scheduler, dealtAtOnce: 1, stageEnded, signal });
    // Slabs are made while the reader uses those before them.
    const running = others ? others.run(runHere, queue) : runHere(following.signal);
    running.catch((error: unknown) => queue.fail(error));
    try {
      yield* queue.inOrder(plan.job.tasks);
      others?.onWait(true);
      await running;
    } finally {
      stop.abort();
      await running.catch(() => {});
    }
  } finally {
    following.end();
    close();
    release();
    await scratch?.remove();
  }
}

/**
 * Opens other threads that make slabs; undefined if none can read the source, or if there is too little work or memory.
 */
async function otherThreads(
  reading: SlabReading,
  { threads, ...options }: Pick<ReadSlabsOptions, "threads" | "maxMemory" | "worker">,
): Promise<SlabThreads | undefined> {
  const source = specOf(reading.array.store);
  if (source === undefined || !storeTraits(source).isFileBacked) return undefined;
  if (singleThreadReason({ source, target: source, isPaced: false }) !== undefined) return undefined;
  const { slabThreads } = await import("../threads/slab-threads.ts");
  return slabThreads(reading, { ...options, source, threads: threads ?? (await coresAvailable()) });
}
