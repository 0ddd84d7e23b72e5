import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { nodeIn } from "../../../hierarchy/open/open-node.ts";
import { gridShape } from "../../../meta/array-metadata.ts";
import { isFixed } from "../../../meta/data-type.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { pooledSize } from "../../../streams/buffer-pool.ts";
import { abortError, onAbort } from "../../../util/abort.ts";
import { nextTurn } from "../../../util/next-turn.ts";
import { cStrides, product } from "../../../util/shape.ts";
import { type Slab, type SlabReader, type SlabReading, slabRegion } from "../../slabs/slab-reader.ts";
import { unpackError } from "./messages.ts";
import { MAX_WAITING, type SlabCall, type SlabMessage, type SlabStart } from "./slab-messages.ts";
import { watchThreads } from "./watchdog.ts";
import { type WorkerSettings, workerCrashError, workerExitError } from "./worker-thread.ts";

/** The script of a thread: it lies beside this one, unless somebody put the library into a bundle of theirs. */
const SCRIPT = new URL("./slab-worker.js", import.meta.url);
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
  readonly worker?: Pick<WorkerSettings, "script" | "threads" | "patience"> | undefined;
}

/** Other threads that read slabs. */
export interface SlabThreads {
  /** Threads, the one that takes the slabs among them. */
  readonly threads: number;
  readonly start: SlabStart;
  readonly script: URL;
  readonly patience: number | undefined;
}

/** How a reading is shared with other threads; undefined where there is too little to do, or to hold. */
export async function slabThreads(
  { array, pipeline, selection, plan, io }: SlabReading,
  {
    source,
    maxMemory,
    threads: most,
    worker: { script = SCRIPT, threads: wanted, patience } = {},
  }: SlabThreadsOptions,
): Promise<SlabThreads | undefined> {
  const { dataType } = pipeline.spec;
  if (!isFixed(dataType)) return undefined;
  const slabs = product(gridShape(selection.shape, plan.slabShape));
  const slabBytes = pooledSize(product(plan.slabShape) * dataType.size);
  const memoryEach = plan.readAhead * plan.bytesPerChunk + (1 + MAX_WAITING) * slabBytes;
  const isWorthwhile = plan.chunksRead * pipeline.decodedSize >= WORTH_A_THREAD;
  const threads = Math.min(wanted ?? (isWorthwhile ? most : 1), slabs, Math.floor(maxMemory / memoryEach));
  if (!(threads > 1) || !existsSync(script)) return undefined;
  const { path, documents } = array;
  const reading = { ...array.reading, zarrFormat: array.layout.zarrFormat };
  if (nodeIn(documents, array.store, path, reading)?.kind !== "array") return undefined;
  const start = {
    sourceVersion: await array.store.version?.(),
    ...{ source, path, documents, reading, selection, plan, slabs },
    maxMemory: Math.floor(maxMemory / threads),
    io: Math.max(1, Math.floor(io / threads)),
    next: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  };
  return { threads, start, script, patience };
}

/**
 * Slabs in C order, read by this thread and by others: each takes the next one that nobody has begun.
 *
 * @throws the first failure of any thread.
 */
export async function* slabsOfThreads(
  read: SlabReader,
  reading: SlabReading,
  { threads, start, script, patience }: SlabThreads,
): AsyncGenerator<Slab> {
  const { buffers, signal } = reading;
  const { slabs, next } = start;
  const ready = new Map<number, { readonly slab: Slab; readonly give: () => void }>();
  let failure: { readonly error: unknown } | undefined;
  let changed = () => {};
  let held = 0;
  let messages = 0;
  let isWaiting = false;
  const fail = (error: unknown) => {
    failure ??= { error };
    changed();
  };
  const workers: Pick<Worker, "ref" | "unref" | "postMessage" | "terminate">[] = [];
  const startOne = () => {
    const worker = new Worker(script, { workerData: start });
    let isDone = false;
    worker.on("message", (message: SlabMessage) => {
      messages++;
      if (message.type === "failed") fail(unpackError(message.error));
      else if (message.type === "done") isDone = true;
      else {
        const { number, bytes } = message;
        const give = () =>
          worker.postMessage({ type: "taken", buffer: bytes.buffer } satisfies SlabCall, [bytes.buffer]);
        ready.set(number, { slab: slabOf(number, bytes, reading), give });
        changed();
      }
    });
    worker.on("error", (error) => fail(workerCrashError(error)));
    worker.on("exit", () => isDone || fail(workerExitError()));
    // It keeps the process only while somebody waits for a slab: slabs may be dropped, which nobody tells.
    worker.unref();
    workers.push(worker);
  };
  const readOne = async () => {
    const number = Atomics.add(next, 0, 1);
    if (number >= slabs) return false;
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
  const onHang = (error: unknown) => {
    fail(error);
    for (const worker of workers) void worker.terminate();
  };
  const unwatch = watchThreads(() => (isWaiting ? messages : undefined), onHang, patience);
  try {
    // Where one cannot be started, those before it end.
    while (workers.length < threads - 1) startOne();
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
          for (const worker of workers) worker.ref();
          await new Promise<void>((resolve) => {
            changed = resolve;
          });
          for (const worker of workers) worker.unref();
          isWaiting = false;
        }
      }
    }
  } finally {
    unwatch();
    stopListening();
    Atomics.store(next, 0, slabs);
    // They end by themselves, with the slab that they read: to terminate a thread that still starts may end the process.
    for (const worker of workers) worker.postMessage({ type: "stop" } satisfies SlabCall);
  }
}

function slabOf(number: number, bytes: Uint8Array, reading: SlabReading): Slab {
  const { region } = slabRegion(reading, number);
  const { shape } = region;
  const itemSize = bytes.length / product(shape);
  return { region, data: { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) } };
}
