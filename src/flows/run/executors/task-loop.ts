import { builtin } from "../../../util/platform.node.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import { leaseBytesOf, taskAt } from "../../plan/task.ts";
import type { TaskSet } from "../ledger/task-set.ts";
import type { TaskStats } from "./messages.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";
import { TaskReporter } from "./task-reporter.ts";
import type { TaskRunner } from "./task-runner.ts";

/** Messages from another thread take time: one reports many events. */
const REPORT_INTERVAL_MS = 50;

export interface TaskLoopOptions {
  readonly control: SharedScheduler;
  /** Called now and then with what tasks did. */
  readonly note: (notes: TaskStats) => void;
  /** Tasks that need not be run. */
  readonly done?: TaskSet;
  /** Aborted with the first failure, so that other tasks of this thread end. */
  readonly stop: AbortController;
  /** The most tasks that are dealt together; 1 where somebody waits for them in order. */
  readonly dealtAtOnce?: number;
  /**
   * Called when all tasks of a stage before the last have ended, in whichever threads: those of the next have buffers of
   * other sizes.
   */
  readonly stageEnded?: (stage: number) => Promise<void>;
}

/**
 * What each thread of a run does: runs the tasks that it is dealt, stage by stage, each under a lease, and reports what
 * they did. The first failure stops all threads.
 *
 * @throws that failure, when all tasks of this thread have ended.
 */
export async function loopTasks(
  plan: TaskPlan,
  run: TaskRunner,
  { control, note, done, stop, dealtAtOnce, stageEnded }: TaskLoopOptions,
): Promise<void> {
  const thread = builtin("node:worker_threads")?.threadId ?? control.shared.thread;
  const reporter = new TaskReporter(thread, REPORT_INTERVAL_MS, note);
  const { driver, tasksAtOnce } = plan.execution;
  // Calls that block leave nothing to a second task of the same thread.
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
