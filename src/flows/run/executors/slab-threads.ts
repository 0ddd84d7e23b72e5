import { nodeIn } from "../../../hierarchy/open/open-node.ts";
import { gridShape } from "../../../meta/array-metadata.ts";
import { isFixed } from "../../../meta/data-type.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { pooledSize } from "../../../streams/buffer-pool.ts";
import { abortError, onAbort } from "../../../util/abort.ts";
import { nextTurn } from "../../../util/blocking-io.ts";
import { cStrides, product } from "../../../util/shape.ts";
import { type Slab, type SlabReader, type SlabReading, slabRegion } from "../../slabs/slab-reader.ts";
import { MAX_WAITING, type SlabResult, type SlabsWork } from "./messages.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import type { WorkerPool, WorkerSettings } from "./worker-pool.ts";

/** Decoded bytes; to start and to get warm takes a thread as much time as some hundred MiB take to read and decode. */
const WORTH_A_THREAD = 2 ** 30;
/** Slabs in this thread: one in the caller's hands, one that is ready before it is due. */
const MAX_HELD = 2;

export interface SlabThreadsOptions {
  /** Opens the array's store again. */
  readonly source: StoreSpec;
  /** The most threads, this one among them. */
  readonly threads: number;
  readonly maxMemory: number;
  readonly worker?: WorkerSettings | undefined;
}

/** The threads that share a reading, which are started. */
export interface SlabThreads {
  /** Threads, the one that takes the slabs among them. */
  readonly threads: number;
  readonly work: SlabsWork;
  readonly source: StoreSpec;
  readonly pool: WorkerPool<SlabsWork, SlabResult>;
}

/** Starts the threads that share a reading; undefined where there is too little to do, or to hold. */
export async function slabThreads(
  { array, pipeline, selection, plan, io }: SlabReading,
  { source, maxMemory, threads: most, worker = {} }: SlabThreadsOptions,
): Promise<SlabThreads | undefined> {
  const { dataType } = pipeline.spec;
  if (!isFixed(dataType)) return undefined;
  const slabBytes = pooledSize(product(plan.slabShape) * dataType.size);
  const memoryEach = plan.readAhead * plan.bytesPerChunk + (1 + MAX_WAITING) * slabBytes;
  const isWorthwhile = plan.chunksRead * pipeline.decodedSize >= WORTH_A_THREAD;
  const wanted = worker.threads ?? (isWorthwhile ? most : 1);
  const threads = Math.min(wanted, slabsOf({ selection, plan }), Math.floor(maxMemory / memoryEach));
  if (!(threads > 1)) return undefined;
  const { path, documents } = array;
  const reading = { ...array.reading, zarrFormat: array.layout.zarrFormat };
  if (nodeIn(documents, array.store, path, reading)?.kind !== "array") return undefined;
  const each = { maxMemory: Math.floor(maxMemory / threads), io: Math.max(1, Math.floor(io / threads)) };
  const work = { kind: "slabs" as const, path, documents, reading, selection, plan, ...each };
  const { canStartWorkers, WorkerPool } = await import("./worker-pool.ts");
  if (!canStartWorkers(worker)) return undefined;
  const pool = await WorkerPool.start<SlabsWork, SlabResult>(threads, worker);
  // They keep the process only while somebody waits for a slab: slabs may be dropped, which nobody tells.
  pool.keepProcess(false);
  return { threads, work, source, pool };
}

/**
 * Slabs in C order, read by this thread and by others: each claims the next one that nobody has begun.
 *
 * @throws the first failure of any thread.
 */
export async function* slabsOfThreads(
  read: SlabReader,
  reading: SlabReading,
  { threads, work, source, pool }: SlabThreads,
): AsyncGenerator<Slab> {
  const { array, buffers, signal } = reading;
  const slabs = slabsOf(reading);
  const control = new SharedScheduler([slabs], work.maxMemory * threads, threads);
  const ready = new Map<number, { readonly slab: Slab; readonly give: () => void }>();
  let failure: { readonly error: unknown } | undefined;
  let changed = () => {};
  let held = 0;
  let isWaiting = false;
  const fail = (error: unknown) => {
    failure ??= { error };
    changed();
  };
  const readOne = async () => {
    const number = control.claim(0, 1)?.first;
    if (number === undefined) return false;
    held++;
    const slab = await read(number);
    const give = () => {
      buffers.give(slab.data.bytes);
      held--;
    };
    ready.set(number, { slab, give });
    return true;
  };
  const stopListening = onAbort(signal, () => fail(abortError(signal.reason)));
  try {
    const sourceVersion = await array.store.version?.();
    const others = pool.run({
      ...{ work, source, sourceVersion, control },
      onResult: ({ number, bytes }, giveBack) => {
        const give = () => giveBack([{ number, buffer: bytes.buffer }]);
        ready.set(number, { slab: slabOf(number, bytes, reading), give });
        changed();
      },
      isAwaited: () => isWaiting,
    });
    others.catch(fail);
    for (let due = 0; due < slabs; due++) {
      for (let found = ready.get(due); ; found = ready.get(due)) {
        if (failure) throw failure.error;
        if (found) {
          ready.delete(due);
          yield found.slab;
          found.give();
          break;
        }
        if (held < MAX_HELD && (await readOne())) await nextTurn();
        else if (!ready.has(due) && !failure) {
          isWaiting = true;
          pool.keepProcess(true);
          await new Promise<void>((resolve) => {
            changed = resolve;
          });
          pool.keepProcess(false);
          isWaiting = false;
        }
      }
    }
  } finally {
    stopListening();
    await pool.end();
  }
}

function slabsOf({ selection, plan }: Pick<SlabReading, "selection" | "plan">): number {
  return product(gridShape(selection.shape, plan.slabShape));
}

function slabOf(number: number, bytes: Uint8Array, reading: SlabReading): Slab {
  const { region } = slabRegion(reading, number);
  const { shape } = region;
  const itemSize = bytes.length / product(shape);
  return { region, data: { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) } };
}
