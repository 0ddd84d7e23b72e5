import { parentPort, workerData } from "node:worker_threads";
import { openKernelHeap } from "../../../codecs/kernels/kernels.ts";
import { nodeIn } from "../../../hierarchy/open/open-node.ts";
import { blockingFileCalls } from "../../../stores/files/file-calls.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { directSlabs } from "../../slabs/direct-slabs.ts";
import { slabReader } from "../../slabs/slab-reader.ts";
import { packError } from "./messages.ts";
import { openSame } from "./open-same.ts";
import { MAX_WAITING, type SlabCall, type SlabMessage, type SlabStart } from "./slab-messages.ts";

/** The script of a thread that reads slabs for another one, which takes them in C order. */
const port = parentPort;
const free: ArrayBuffer[] = [];
let waiting = 0;
let isStopped = false;
let changed = () => {};

port?.on("message", (call: SlabCall) => {
  if (call.type === "stop") isStopped = true;
  else {
    free.push(call.buffer);
    waiting--;
  }
  changed();
});

try {
  await work(workerData as SlabStart);
  tell({ type: "done" });
} catch (error) {
  tell({ type: "failed", error: packError(error) });
}
port?.close();

async function work(start: SlabStart): Promise<void> {
  const { source, sourceVersion, path, documents, selection, plan, slabs, maxMemory, io, next } = start;
  const store = await openSame(source, sourceVersion, { files: blockingFileCalls });
  const node = nodeIn(documents, store, path, { ...start.reading, spec: source });
  if (node?.kind !== "array")
    throw new ZarrflowError("source-changed", "there is no array any more", { path });
  const array = node.innerChunks();
  const buffers = new BufferPool(maxMemory, { source: openKernelHeap()?.heap });
  const pipeline = await array.pipeline();
  const { signal } = new AbortController();
  const reading = { array, pipeline, selection, plan, buffers, io, signal };
  const read = slabReader(await directSlabs(reading), reading);
  for (;;) {
    while (waiting === MAX_WAITING && !isStopped) {
      await new Promise<void>((resolve) => {
        changed = resolve;
      });
    }
    const number = Atomics.add(next, 0, 1);
    if (number >= slabs) break;
    const { data } = await read(number);
    const buffer = free.pop();
    const own =
      buffer && buffer.byteLength >= data.bytes.length
        ? new Uint8Array(buffer, 0, data.bytes.length)
        : new Uint8Array(data.bytes.length);
    own.set(data.bytes);
    buffers.give(data.bytes);
    waiting++;
    tell({ type: "slab", number, bytes: own }, [own.buffer]);
  }
  await store.close?.();
}

function tell(message: SlabMessage, transfer: readonly ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}
