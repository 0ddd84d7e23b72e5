import { builtin } from "../../../util/platform.node.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import { leaseBytesOf, taskAt } from "../../plan/task.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import type { TaskStats } from "./messages.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import { TaskReporter } from "./task-reporter.ts";
import type { TaskRunner } from "./task-runner.ts";

/** Messages between threads take time, so one message reports many events. */
const REPORT_INTERVAL_MS = 50;

export interface TaskLoopOptions {
  readonly control: SharedScheduler;
  /** Called at intervals with the work of tasks. */
  readonly note: (notes: TaskStats) => void;
  /** Tasks to skip. */
  readonly done?: TaskSet;
  /** Aborted on the first failure, to end the other tasks of this thread. */
  readonly stop: AbortController;
  /** Maximum number of tasks dealt together; 1 if a reader waits for them in order. */
  readonly dealtAtOnce?: number;
  /**
   * Called when all threads have ended the tasks of a stage, except for the last stage. Tasks of the next stage use
   * buffers of other sizes.
   */
  readonly stageEnded?: (stage: number) => Promise<void>;
}

/**
 * Runs the tasks dealt to this thread, stage by stage, each with a memory lease, and reports their work. The first
 * failure stops all threads.
 *
 * @throws that failure, once all tasks of this thread have ended.
 */
export async function loopTasks(
  plan: TaskPlan,
  run: TaskRunner,
  { control, note, done, stop, dealtAtOnce, stageEnded }: TaskLoopOptions,
): Promise<void> {
  const thread = builtin("node:worker_threads")?.threadId ?? control.shared.thread;
  const reporter = new TaskReporter(thread, REPORT_INTERVAL_MS, note);
  const { driver, tasksAtOnce } = plan.execution;
  // Blocking calls leave no time for a second task in the same thread.
  const atOnce = driver === "loop" ? 1 : Math.ceil(tasksAtOnce / control.threads);
  const runTasks = async (stage: number) => {
    const claim = () => control.claim(stage, dealtAtOnce);
    for (let dealt = claim(); dealt; dealt = claim()) {
      const end = dealt.first + dealt.count;
      for (let index = dealt.first; index < end; index++) {
        const task = taskAt(plan, stage, index);
        if (done?.has(task.number)) {
          control.taskEnded();
          continue;
        }
        const lease = await control.acquire(leaseBytesOf(task));
        if (lease === undefined) return;
        try {
          await reporter.around(
            task.number,
            (events) => run(task, events, stop.signal),
            () => control.stop(),
          );
          control.taskEnded();
        } finally {
          lease.release();
        }
      }
    }
  };
  const guarded = async (stage: number) => {
    try {
      await runTasks(stage);
    } catch (error) {
      control.stop();
      stop.abort(error);
    }
  };
  try {
    for (const stage of plan.stages.keys()) {
      await Promise.all(Array.from({ length: atOnce }, () => guarded(stage)));
      const isLast = stage === plan.stages.length - 1;
      if (!stop.signal.aborted && !isLast) await control.stageEnded(stage);
      stop.signal.throwIfAborted();
      if (control.isStopped || isLast) break;
      await stageEnded?.(stage);
    }
  } finally {
    reporter.flush();
  }
}
