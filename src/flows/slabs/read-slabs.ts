import { openKernelHeap, WORTH_A_HEAP } from "../../codecs/kernels/kernels.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { StoreSpec } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { specOf } from "../../stores/url.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import type { Selection } from "../../streams/selection.ts";
import { followSignals } from "../../util/abort.ts";
import { product } from "../../util/shape.ts";
import { planSlabs } from "../plan/slab-plan.ts";
import type { GridStrategy } from "../plan/strategies/strategies.ts";
import { coresAvailable, singleThreadReason } from "../run/executors/thread-count.ts";
import type { WorkerSettings } from "../run/executors/worker-pool.ts";
import { openScratch, possibleStrategy } from "../run/scratch/open-scratch.ts";
import type { Scratch } from "../run/scratch/scratch.ts";
import { readStagedSlabs } from "../run/scratch/staged-slabs.ts";
import { directSlabs } from "./direct-slabs.ts";
import { type Slab, type SlabReader, type SlabReading, slabReader } from "./slab-reader.ts";

export interface ReadSlabsOptions {
  readonly maxMemory: number;
  readonly io: number;
  /** Threads that read and decode, this one among them, where there is enough to do; as many as there are cores by default. */
  readonly threads?: number | undefined;
  /** How slabs are made; by default whichever is predicted to take less time. */
  readonly strategy?: GridStrategy | undefined;
  /** Where scratch objects go; the system's folder for temporary files by default. */
  readonly scratch?: StoreSpec | undefined;
  readonly worker?: WorkerSettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads a selection as slabs in C order, within a memory budget; the next one is read while one is used. Where chunks
 * would be decoded too often, all of them go through scratch objects before the first slab.
 *
 * @throws what reading and decoding throw; `no-space` where scratch objects do not fit.
 */
export async function* readSlabs(
  source: ZarrArray,
  selection: Selection,
  { maxMemory, io, threads, worker, scratch: place, signal, ...options }: ReadSlabsOptions,
): AsyncGenerator<Slab> {
  if (product(selection.shape) === 0) return;
  const array = source.innerChunks();
  const pipeline = await array.pipeline();
  const strategy = possibleStrategy(options.strategy, place);
  const plan = planSlabs({ array, pipeline, selection, maxMemory, io, strategy });
  const isLarge = plan.chunksRead * pipeline.decodedSize >= WORTH_A_HEAP;
  const open = isLarge ? openKernelHeap() : undefined;
  const buffers = new BufferPool(maxMemory, { source: open?.heap });
  const stop = new AbortController();
  const following = followSignals(signal, stop.signal);
  const { staged } = plan;
  let scratch: Scratch | undefined;
  try {
    const reading = { array, pipeline, selection, plan, buffers, io, signal: following.signal };
    if (staged) scratch = await openScratch({ place, bytes: staged.cost.scratchBytes });
    const chunks =
      staged && scratch ? await readStagedSlabs(staged, scratch, reading) : await directSlabs(reading);
    const read = slabReader(chunks, reading);
    const mayShare = staged === undefined && (isLarge || worker !== undefined);
    const others = mayShare && (await otherThreads(reading, { threads, maxMemory, worker }));
    yield* others ? others(read) : slabsInOrder(read, reading, () => stop.abort());
  } finally {
    stop.abort();
    following.end();
    buffers.clear();
    open?.close();
    await scratch?.remove();
  }
}

/** Slabs that other threads read, too; undefined where none can, or there is too little to do. */
async function otherThreads(
  reading: SlabReading,
  { threads, ...options }: Pick<ReadSlabsOptions, "threads" | "maxMemory" | "worker">,
): Promise<((read: SlabReader) => AsyncGenerator<Slab>) | undefined> {
  const source = specOf(reading.array.store);
  if (threads === 1 || source === undefined || !storeTraits(source).isFileBacked) return undefined;
  if (singleThreadReason({ source, target: source, isPaced: false }) !== undefined) return undefined;
  const { slabThreads, slabsOfThreads } = await import("../run/executors/slab-threads.ts");
  const most = threads ?? (await coresAvailable());
  const found = await slabThreads(reading, { ...options, source, threads: most });
  return found && ((read) => slabsOfThreads(read, reading, found));
}

async function* slabsInOrder(
  read: SlabReader,
  { selection, plan, buffers }: SlabReading,
  stop: () => void,
): AsyncGenerator<Slab> {
  const slabs = product(gridShape(selection.shape, plan.slabShape));
  let next: Promise<Slab> | undefined;
  const start = (number: number) => {
    next = number < slabs ? read(number) : undefined;
    next?.catch(() => {});
  };
  try {
    start(0);
    for (let number = 1; next; number++) {
      const slab: Slab = await next;
      start(number);
      yield slab;
      buffers.give(slab.data.bytes);
    }
  } finally {
    stop();
    const unused = await next?.catch(() => undefined);
    if (unused) buffers.give(unused.data.bytes);
  }
}
