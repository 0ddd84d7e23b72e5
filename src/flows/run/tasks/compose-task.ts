import { decodeStage } from "../../../streams/decode-chunks.ts";
import { encodeStage } from "../../../streams/encode-chunks.ts";
import { regridStage } from "../../../streams/regrid.ts";
import { wholeSelection } from "../../../streams/selection.ts";
import { shiftStage } from "../../../streams/shift-values.ts";
import type { Stage } from "../../../streams/stage.ts";
import { inFlightOf } from "../../plan/strategies/in-flight.ts";
import { strategyNamed } from "../../plan/strategies/strategies.ts";
import type { StageName } from "../../plan/strategies/strategy.ts";
import { itemsOf, type ScratchTask, stepsOf, type Task } from "../../plan/task.ts";
import { gatherStage } from "../scratch/gather-pieces.ts";
import { isTaker, type TaskContext, type TaskItem, type TaskSource } from "./task-context.ts";
import { type TaskSink, taskSink } from "./task-sink.ts";
import { taskSource } from "./task-source.ts";

/** The parts of a task before a driver runs it: its consecutive steps and the sink that they share. */
export interface TaskComposition {
  readonly steps: Iterable<Task>;
  readonly sink: TaskSink;
}

/** The source of a step's items and the stages that process each item. */
export interface StepComposition {
  readonly source: TaskSource;
  readonly stages: readonly Stage<TaskItem, TaskItem>[];
}

/** Composes a task. Its steps are composed later, when the driver begins each of them. */
export function composeTask(task: Task, context: TaskContext): TaskComposition {
  return { steps: task.kind === "scratch" ? [task] : stepsOf(task), sink: taskSink(task, context) };
}

/** Composes a step of a task according to the strategy of its job. */
export async function composeStep(step: Task, context: TaskContext): Promise<StepComposition> {
  return { source: await taskSource(step, context), stages: await stagesOf(step, context) };
}

async function stagesOf(step: Task, context: TaskContext): Promise<Stage<TaskItem, TaskItem>[]> {
  const { source, target, buffers, writeEmpty } = context;
  const { job } = step;
  const names = strategyNamed(job.strategy)
    .stages(step)
    .filter((name) => name !== "encode" || !isTaker(target));
  if (names.length === 0) return [];
  const { spec, strides } = await target.pipeline();
  // Items from scratch objects already have target positions.
  const selection = inFlightOf(step).isOfSource ? job.selection : wholeSelection(job.target.shape);
  const { shift } = job.selection;
  const made: Readonly<Record<StageName, () => Stage<TaskItem, TaskItem>>> = {
    decode: () => decodeStage(source, { buffers, fillMissing: job.missingChunks !== undefined }),
    gather: () => gatherStage(assertScratchTask(step), { chunk: spec, selection, buffers }),
    regrid: () =>
      regridStage(
        { shape: job.target.shape, chunk: spec, strides },
        {
          selection,
          window: itemsOf(step),
          buffers,
          onGrowth: isTaker(target) && !shift ? target.onGrowth : undefined,
        },
      ),
    encode: () => encodeStage(target, { buffers, ...(writeEmpty && { writeEmpty }) }),
  };
  return names.flatMap((name) =>
    name === "regrid" && shift ? [made.regrid(), shiftStage(shift, { spec, buffers })] : [made[name]()],
  );
}

function assertScratchTask(step: Task): ScratchTask {
  if (step.kind === "scratch") return step;
  throw new RangeError("only tasks that write scratch objects gather items");
}
