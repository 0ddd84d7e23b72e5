import { assertWritable } from "../../../stores/assertions.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import { TaskSet } from "../ledger/task-set.ts";
import { openJob } from "../open-job.ts";
import { packError, type TasksResult, type TasksWork, withErrors } from "./messages.ts";
import type { WorkerContext } from "./serve-pool.ts";
import { taskBuffers } from "./task-buffers.ts";
import { loopTasks } from "./task-loop.ts";
import { taskRunner } from "./task-runner.ts";
import { TransferSink } from "./transfer-sink.ts";

/** Runs the tasks dealt to a worker thread. */
export async function serveTasks(
  { plan, target, scratch, documents, done, ...how }: TasksWork,
  { control, stop, source, openExclusive, send, onBack }: WorkerContext<TasksResult>,
): Promise<void> {
  const share = control.shareOf(plan.budget.maxMemory);
  const { buffers } = taskBuffers(plan, { ...share, leave: target === undefined });
  const sink = new TransferSink((values, sent) => send({ kind: "values", values }, sent), buffers);
  onBack((stored) => sink.stored(stored));
  const writable = async (spec: StoreSpec) => assertWritable(await openExclusive(spec));
  const written = target ? await writable(target) : sink;
  const run = taskRunner({
    ...how,
    plan,
    open: (job, signal) => openJob(job, { plan, source, target: written, documents, signal }),
    ...(scratch && { scratch: await writable(scratch) }),
    buffers,
    threads: control.threads,
    driver: plan.execution.driver,
  });
  const stageEnded = async () => buffers.clear();
  await loopTasks(plan, run, {
    control,
    note: (notes) => send({ kind: "notes", notes: withErrors(notes, packError) }),
    done: new TaskSet(done),
    stop,
    stageEnded,
  });
}
