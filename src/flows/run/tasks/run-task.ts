import type { EncodedChunk } from "../../../streams/chunk.ts";
import { stageStream } from "../../../streams/stage.ts";
import type { ReadableStream, TransformStream, WritableStream } from "../../../streams/web.ts";
import { followSignals } from "../../../util/abort.ts";
import { invalid, isObject } from "../../../util/check-options.ts";
import { assertTask, type Task } from "../../plan/task.ts";
import { composeStep, composeTask } from "./compose-task.ts";
import type { TaskContext, TaskItem } from "./task-context.ts";

/** A task, or one of its steps, as streams that are not yet connected. */
export interface TaskStages {
  readonly source: ReadableStream<TaskItem>;
  readonly stages: readonly TransformStream<TaskItem, TaskItem>[];
}

/** Returns the sink of all steps of a task: chunks of the target, or a scratch object. */
export function taskSink(task: Task, context: TaskContext): WritableStream<EncodedChunk> {
  assertRunnable(task, context);
  return composeTask(task, context).sink.stream();
}

/** Returns the stages that the strategy needs for a step of a task. You can insert stages of your own between them. */
export async function taskStages(step: Task, context: TaskContext): Promise<TaskStages> {
  assertRunnable(step, context);
  const { source, stages } = await composeStep(step, context);
  return { source: source.stream(), stages: stages.map(stageStream) };
}

/**
 * Runs one task as streams, step after step into one sink. A task can run more than once: it writes the same keys with
 * the same bytes.
 *
 * @throws the first failure of any stage, unchanged.
 */
export async function runTask(task: Task, context: TaskContext): Promise<void> {
  assertRunnable(task, context);
  const { signal, end } = followSignals(context.signal);
  const { steps, sink } = composeTask(task, context);
  const target = sink.stream();
  try {
    for (const step of steps) {
      const { source, stages } = await taskStages(step, context);
      const connected = stages.reduce((stream, stage) => stream.pipeThrough(stage), source);
      await connected.pipeTo(target, { preventClose: true, signal });
    }
    await close(target);
  } catch (error) {
    await target.abort(error).catch(() => {});
    throw error;
  } finally {
    end();
  }
}

/** Closes a stream. Closing a failed stream rejects with another error; `closed` rejects with the actual failure. */
async function close(sink: WritableStream<TaskItem>): Promise<void> {
  const writer = sink.getWriter();
  writer.close().catch(() => {});
  try {
    await writer.closed;
  } finally {
    writer.releaseLock();
  }
}

/** @throws `invalid-option` if the arguments are not a task and its context. */
function assertRunnable(task: unknown, context: unknown): void {
  assertTask(task);
  const isContext = isObject(context) && "source" in context && "target" in context && "buffers" in context;
  if (!isContext)
    throw invalid("this is not the context of a task", "{ source, target, buffers, concurrency }", context);
}
