import { parentPort } from "node:worker_threads";
import { blockingFileCalls } from "../../../stores/files/file-calls.ts";
import { onRetry } from "../../../stores/remote/retry-events.ts";
import { joinOverloads } from "../../../stores/remote/throttle-signals.ts";
import { isWritable, type Store, type StoreSpec, type WritableStore } from "../../../stores/store.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import { memoryForTasks } from "../../plan/expected-size.ts";
import { ioPerThread } from "./io-per-thread.ts";
import {
  type MainMessage,
  packError,
  type TaskStats,
  type WorkerMessage,
  type WorkerStart,
} from "./messages.ts";
import { openSame } from "./open-same.ts";
import { SharedScheduler } from "./shared-scheduler.ts";
import { taskBuffers } from "./task-buffers.ts";
import { loopTasks } from "./task-loop.ts";
import { taskRunner } from "./task-runner.ts";
import { TransferSink } from "./transfer-sink.ts";
import { withStopCheck } from "./with-stop-check.ts";

/** The script of a worker thread: it runs the tasks that it is dealt, and tells what it did. */
const stop = new AbortController();
const STOPPED = new ZarrflowError("aborted", "the run has stopped");
/** It comes when what the run works on has been opened, while this thread was loading its scripts. */
const start = await new Promise<WorkerStart>((resolve) => {
  parentPort?.once("message", (message: MainMessage) => message.type === "start" && resolve(message.start));
});
const control = new SharedScheduler(
  start.plan.stages,
  memoryForTasks(start.plan),
  start.threads,
  start.control,
);
const { buffers } = taskBuffers(start.plan, {
  control,
  threads: start.threads,
  leave: start.target === undefined,
});
const handOver = new TransferSink(
  { postMessage: (...message) => parentPort?.postMessage(...message) },
  buffers,
);

parentPort?.on("message", (message: MainMessage) => {
  if (message.type === "stored") handOver.stored(message.values);
  else if (message.type === "stop") stop.abort(STOPPED);
});

joinOverloads(start.overloads);
onRetry(({ error, ...retry }) => tell({ type: "retry", retry, error: packError(error) }));

try {
  await work(start);
  tell({ type: "done" });
} catch (error) {
  // Who made it stop tells why.
  tell(error === STOPPED ? { type: "done" } : { type: "failed", error: packError(error) });
}
parentPort?.close();

async function work({ source, sourceVersion, target, scratch, ...how }: WorkerStart) {
  const { plan, documents, writeEmpty, verify, threads } = how;
  const run = taskRunner({
    plan,
    source: await opened(source, { version: sourceVersion }),
    target: target ? writable(await opened(target, { exclusive: true })) : handOver,
    ...(scratch && { scratch: writable(await opened(scratch, { exclusive: true })) }),
    documents,
    buffers,
    io: ioPerThread(plan, threads),
    writeEmpty,
    verify,
    driver: plan.execution.driver,
  });
  const note = (notes: TaskStats) => tell({ type: "notes", notes });
  const stageEnded = async () => buffers.clear();
  await loopTasks(plan, run, { control, threads, note, stop, stageEnded });
}

/** No message reaches a thread that blocks: each of its calls looks whether it is to stop. */
async function opened(
  spec: StoreSpec,
  { version, exclusive = false }: { readonly version?: string | undefined; readonly exclusive?: boolean },
): Promise<Store> {
  const store = await openSame(spec, version, { exclusive, files: blockingFileCalls });
  return withStopCheck(store, () => {
    control.beat();
    return control.isStopped ? Promise.reject(STOPPED) : undefined;
  });
}

function writable(store: Store): WritableStore {
  if (isWritable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot be written", {
    store: store.description,
  });
}

function tell(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}
