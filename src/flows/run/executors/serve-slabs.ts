import { openKernelHeap } from "../../../codecs/kernels/kernels.ts";
import { nodeIn } from "../../../hierarchy/open/node-in.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import { abortError, onAbort } from "../../../util/abort.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import type { TakeSlab } from "../../slabs/slab-queue.ts";
import { slabDriver, slabRunner, slabTasks } from "../../slabs/slab-tasks.ts";
import { MAX_WAITING, type ReturnedBuffer, type SlabResult, type SlabsWork } from "./messages.ts";
import type { WorkerContext } from "./serve-pool.ts";
import { loopTasks } from "./task-loop.ts";

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
