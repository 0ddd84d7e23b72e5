import type { Plan } from "../plan/plan.ts";
import { type Task, taskAt, taskBytesOf } from "../plan/task.ts";
import type { Control } from "./control.ts";

export interface TaskLoopOptions {
  readonly control: Control;
  /** Tasks that this thread has under way at one time. */
  readonly atOnce: number;
  /** Aborted with the first failure, so that other tasks of this thread end. */
  readonly stop: AbortController;
  /** Called when all tasks of a stage have ended, in whichever threads: those of the next have buffers of other sizes. */
  readonly stageEnded?: (stage: number) => Promise<void>;
}

/**
 * What each thread of a run does: runs the tasks that it is dealt, stage by stage, each under a lease. The first failure
 * stops all threads.
 *
 * @throws that failure, when all tasks of this thread have ended.
 */
export async function loopTasks(
  plan: Plan,
  run: (task: Task) => Promise<void>,
  { control, atOnce, stop, stageEnded }: TaskLoopOptions,
): Promise<void> {
  const lane = async (stage: number) => {
    for (let dealt = control.deal(stage); dealt; dealt = control.deal(stage)) {
      const end = dealt.first + dealt.count;
      for (let index = dealt.first; index < end; index++) {
        const task = taskAt(plan, stage, index);
        const release = await control.lease(taskBytesOf(task));
        if (release === undefined) return;
        try {
          await run(task);
          control.taskEnded();
        } finally {
          release();
        }
      }
    }
  };
  const guarded = async (stage: number) => {
    try {
      await lane(stage);
    } catch (error) {
      control.stop();
      stop.abort(error);
    }
  };
  for (const stage of plan.stages.keys()) {
    await Promise.all(Array.from({ length: atOnce }, () => guarded(stage)));
    if (!stop.signal.aborted) await control.stageEnded(stage);
    stop.signal.throwIfAborted();
    if (control.isStopped) return;
    await stageEnded?.(stage);
  }
}
