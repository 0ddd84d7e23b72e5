import type { EncodedChunk } from "../../../streams/chunk.ts";
import { isPromise } from "../../../util/awaitable.ts";
import type { Task } from "../../plan/task.ts";
import { composeStep, composeTask, type StepComposition } from "./compose-task.ts";
import { PendingWrites } from "./pending-writes.ts";
import type { TaskContext, TaskItem } from "./task-context.ts";

/**
 * Runs one task as `runTask` does, chunk by chunk and without streams between the stages: for stores that answer at
 * once, from which reading several chunks at one time gains nothing. Recompressing 20,000 chunks of 4 KiB took 2.4 s of
 * user time instead of 3.9.
 *
 * @throws as `runTask`
 */
export async function loopTask(task: Task, context: TaskContext): Promise<void> {
  const { signal } = context;
  const { steps, sink } = composeTask(task, context);
  const target = sink.open();
  const writes = new PendingWrites(sink.writesAhead);
  const write = (chunk: EncodedChunk) => {
    const written = target.write(chunk, { signal });
    return sink.writesAhead > 0 ? writes.add(written) : written;
  };
  try {
    for (const step of steps) await loopStep(await composeStep(step, context), write);
    await writes.end();
    await target.close();
  } catch (error) {
    await writes.settle();
    await target.abort(error).catch(() => {});
    throw error;
  }
}

async function loopStep(
  { source, stages }: StepComposition,
  write: (chunk: EncodedChunk) => Promise<void>,
): Promise<void> {
  const pass = async (item: TaskItem, at: number): Promise<void> => {
    const stage = stages[at];
    if (stage === undefined) return write(item as EncodedChunk);
    const pushed = stage.push(item);
    for (const next of isPromise(pushed) ? await pushed : pushed) await pass(next, at + 1);
  };
  await source.each((item) => pass(item, 0));
  for (const [at, stage] of stages.entries()) {
    for (const rest of (await stage.end?.()) ?? []) await pass(rest, at + 1);
  }
}
