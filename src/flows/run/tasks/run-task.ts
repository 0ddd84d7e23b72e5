import type { EncodedChunk } from "../../../streams/chunk.ts";
import { stageStream } from "../../../streams/stage.ts";
import type { ReadableStream, TransformStream, WritableStream } from "../../../streams/web.ts";
import { followSignals } from "../../../util/abort.ts";
import { invalid, isObject } from "../../../util/check-options.ts";
import { assertTask, type Task } from "../../plan/task.ts";
import { composeStep, composeTask } from "./compose-task.ts";
import type { TaskContext, TaskItem } from "./task-context.ts";

/** A task, or a step of one, as streams that are not yet connected. */
export interface TaskStages {
  readonly source: ReadableStream<TaskItem>;
  readonly stages: readonly TransformStream<TaskItem, TaskItem>[];
}

/** Where all steps of a task write: the target's chunks, or a scratch object. */
export function taskSink(task: Task, context: TaskContext): WritableStream<EncodedChunk> {
  assertRunnable(task, context);
  return composeTask(task, context).sink.stream();
}

/** The stages that a step of a task needs by its strategy. Any stage of your own may stand between them. */
export async function taskStages(step: Task, context: TaskContext): Promise<TaskStages> {
  assertRunnable(step, context);
  const { source, stages } = await composeStep(step, context);
  return { source: source.stream(), stages: stages.map(stageStream) };
}

/**
 * Runs one task as streams: the stages of its steps, one step after the other, into one sink. It may run twice; it
 * writes the same keys with the same bytes.
 *
 * @throws the first failure of any stage, as it was thrown.
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

/** A stream that has failed refuses to be closed with an error of its own; `closed` says why it failed. */
async function close(sink: WritableStream<TaskItem>): Promise<void> {
  const writer = sink.getWriter();
  writer.close().catch(() => {});
  try {
    await writer.closed;
  } finally {
    writer.releaseLock();
  }
}

/** @throws `invalid-option` for what is no task, or no context to run it in. */
function assertRunnable(task: unknown, context: unknown): void {
  assertTask(task);
  const isContext = isObject(context) && "source" in context && "target" in context && "buffers" in context;
  if (!isContext)
    throw invalid("this is not the context of a task", "{ source, target, buffers, concurrency }", context);
}
