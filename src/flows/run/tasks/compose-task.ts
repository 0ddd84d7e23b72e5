import { decodeStage } from "../../../streams/decode-chunks.ts";
import { encodeStage } from "../../../streams/encode-chunks.ts";
import { regridStage } from "../../../streams/regrid.ts";
import { type Selection, wholeSelection } from "../../../streams/selection.ts";
import type { Stage } from "../../../streams/stage.ts";
import { itemsOf, stepsOf, type Task } from "../../plan/task.ts";
import { gatherStage } from "../scratch/gather-pieces.ts";
import type { TaskContext, TaskItem } from "./task-context.ts";
import { type TaskSink, taskSink } from "./task-sink.ts";
import { type TaskSource, taskSource } from "./task-source.ts";

/** What a task consists of, before a driver runs it: its steps, one after the other, and where all of them write. */
export interface TaskComposition {
  readonly steps: Iterable<Task>;
  readonly sink: TaskSink;
}

/** Where a step's items come from, and what is done with each. */
export interface StepComposition {
  readonly source: TaskSource;
  readonly stages: readonly Stage<TaskItem, TaskItem>[];
}

/** Composes a task. The driver composes each step when it begins. */
export function composeTask(task: Task, context: TaskContext): TaskComposition {
  return { steps: task.kind === "scratch" ? [task] : stepsOf(task), sink: taskSink(task, context) };
}

/** Composes a step of a task by the job's strategy. */
export async function composeStep(step: Task, context: TaskContext): Promise<StepComposition> {
  return { source: await taskSource(step, context), stages: await stagesOf(step, context) };
}

async function stagesOf(step: Task, context: TaskContext): Promise<Stage<TaskItem, TaskItem>[]> {
  const { source, target, buffers, writeEmpty } = context;
  const { job } = step;
  if (step.kind === "target" && job.strategy === "verbatim") return [];
  const { spec, strides } = await target.pipeline();
  const decode = () => decodeStage(source, { buffers, fillMissing: job.missingChunks !== undefined });
  const encode = () => encodeStage(target, { buffers, ...(writeEmpty && { writeEmpty }) });
  const regrid = (selection: Selection) =>
    regridStage(
      { shape: job.target.shape, chunk: spec, strides },
      { selection, window: itemsOf(step), buffers },
    );
  const whole = wholeSelection(job.target.shape);
  if (step.kind === "scratch") {
    return step.pass === 0
      ? [decode(), gatherStage(step, { chunk: spec, selection: job.selection, buffers })]
      : [gatherStage(step, { chunk: spec, selection: whole, buffers })];
  }
  switch (job.strategy) {
    case "verbatim":
      return [];
    case "transcode":
      return [decode(), encode()];
    case "direct":
      return [decode(), regrid(job.selection), encode()];
    case "staged":
      return [regrid(whole), encode()];
  }
}
