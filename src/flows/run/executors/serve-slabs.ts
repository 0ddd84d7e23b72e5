import { openKernelHeap } from "../../../codecs/kernels/kernels.ts";
import { nodeIn } from "../../../hierarchy/open/open-node.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { directSlabs } from "../../slabs/direct-slabs.ts";
import { slabReader } from "../../slabs/slab-reader.ts";
import { MAX_WAITING, type SlabResult, type SlabsWork } from "./messages.ts";
import type { WorkerContext } from "./serve-pool.ts";

/** Reads slabs in a worker thread for the one that started it, which takes them in C order. */
export async function serveSlabs(
  { path, documents, selection, plan, maxMemory, io, ...work }: SlabsWork,
  { control, stop, source, send, onBack }: WorkerContext<SlabResult>,
): Promise<void> {
  const node = nodeIn(documents, source, path, work.reading);
  if (node?.kind !== "array")
    throw new ZarrflowError("source-changed", "there is no array any more", { path });
  const array = node.innerChunks();
  const buffers = new BufferPool(maxMemory, { source: openKernelHeap()?.heap });
  const pipeline = await array.pipeline();
  const { signal } = stop;
  const reading = { array, pipeline, selection, plan, buffers, io, signal };
  const read = slabReader(await directSlabs(reading), reading);
  const free: ArrayBuffer[] = [];
  let waiting = 0;
  let changed = () => {};
  onBack((returned) => {
    free.push(...returned.map(({ buffer }) => buffer));
    waiting -= returned.length;
    changed();
  });
  signal.addEventListener("abort", () => changed(), { once: true });
  for (;;) {
    while (waiting === MAX_WAITING && !signal.aborted) {
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
    const number = control.claim(0, 1)?.first;
    if (number === undefined) break;
    const { data } = await read(number);
    const own = roomFor(data.bytes.length, free.pop());
    own.set(data.bytes);
    buffers.give(data.bytes);
    waiting++;
    send({ number, bytes: own }, [own.buffer]);
    control.taskEnded();
  }
  await source.close?.();
}

function roomFor(length: number, buffer: ArrayBuffer | undefined): Uint8Array<ArrayBuffer> {
  return buffer && buffer.byteLength >= length ? new Uint8Array(buffer, 0, length) : new Uint8Array(length);
}
