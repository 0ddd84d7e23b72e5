import { describe, expect, it, vi } from "vitest";
import type { ArrayJob, TaskPlan } from "../../src/plan/plan.ts";
import { runTasks } from "../../src/run/run-tasks.ts";
import { LocalScheduler, TaskSet } from "../../src/run/scheduler.ts";
import { TaskReporter, type TaskStats } from "../../src/run/task-reporter.ts";
import type { TaskRunner } from "../../src/run/task-runner.ts";
import { SharedScheduler } from "../../src/run/threads/shared-scheduler.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import { nextTurn } from "../../src/util/blocking-io.ts";
import { failOnUnhandledRejections, rejection } from "../streams/support.ts";

failOnUnhandledRejections();
const KIB = 1024;

/** A plan whose tasks take 10 KiB each; those of all stages but the last write scratch objects. */
function planOf(
  stages: readonly number[],
  tasksAtOnce = 3,
  driver: "streams" | "loop" = "streams",
): TaskPlan {
  const tasks = stages.at(-1) ?? 0;
  const side = { shape: [tasks], chunkShape: [1] };
  const passes = stages
    .slice(0, -1)
    .map((n) => ({ tasks: n, firstTask: 0, leaseBytes: 10 * KIB, box: [tasks] }));
  const selection = { start: [0], step: [1], shape: [tasks] };
  const job = {
    source: side,
    target: side,
    selection,
    window: [1],
    leaseBytes: 10 * KIB,
    tasks,
    firstTask: 0,
  };
  return {
    jobs: [{ ...job, ...(passes.length > 0 && { passes }) } as unknown as ArrayJob],
    stages,
    execution: { driver, tasksAtOnce, concurrency: 1 },
  };
}

/** A runner whose tasks end when they are told to. */
function heldTasks() {
  const running = new Map<number, { end(error?: unknown): void; readonly signal: AbortSignal }>();
  const started: number[] = [];
  const run: TaskRunner = ({ number }, _, signal) =>
    new Promise((resolve, reject) => {
      started.push(number);
      const end = (error?: unknown) => {
        running.delete(number);
        if (error === undefined) resolve();
        else reject(error);
      };
      signal.addEventListener("abort", () => end(signal.reason), { once: true });
      running.set(number, { end, signal });
    });
  return { run, running, started };
}

/** Waits until so many tasks have started. */
async function until(started: readonly number[], tasks: number): Promise<void> {
  while (started.length < tasks) await nextTurn();
}

const local = (plan: TaskPlan, bytes = 100 * KIB) => new LocalScheduler(plan.stages, new ByteBudget(bytes));

describe.each([
  ["one thread", (plan: TaskPlan) => local(plan)],
  ["several", (plan: TaskPlan) => new SharedScheduler(plan.stages, 100 * KIB, 1)],
])("runTasks, with the scheduler of %s", (_, schedulerOf) => {
  it("runs each task once, as many at once as planned, except those that are done", async () => {
    const plan = planOf([40]);
    const done = TaskSet.empty(40);
    done.add(7);
    const started: number[] = [];
    let [now, most] = [0, 0];
    const run: TaskRunner = async ({ number }) => {
      started.push(number);
      most = Math.max(most, ++now);
      await nextTurn();
      now--;
    };
    await runTasks(plan, run, { scheduler: schedulerOf(plan), done });
    const all = Array.from({ length: 40 }, (_, i) => i);
    expect(started.sort((a, b) => a - b)).toEqual(all.filter((number) => number !== 7));
    expect(most).toBe(3);
  });

  it("runs one task at a time by the loop, which blocks its thread", async () => {
    const plan = planOf([3], 3, "loop");
    const { run, running, started } = heldTasks();
    const all = runTasks(plan, run, { scheduler: schedulerOf(plan) });
    for (const number of [0, 1, 2]) {
      await until(started, number + 1);
      expect([...running.keys()]).toEqual([number]);
      running.get(number)?.end();
    }
    await all;
  });

  it("aborts the other tasks after the first failure, reports that one, and throws it", async () => {
    const plan = planOf([9]);
    const { run, running, started } = heldTasks();
    const notes: TaskStats[] = [];
    const reporter = new TaskReporter(0, 0, (stats) => notes.push(stats));
    const all = rejection(runTasks(plan, run, { scheduler: schedulerOf(plan), reporter }));
    await until(started, 3);
    const failure = new Error("no such luck");
    running.get(1)?.end(failure);
    expect(await all).toBe(failure);
    expect(started).toHaveLength(3);
    const failed = notes.flatMap(({ tasks }) => tasks).filter((note) => note.failure);
    expect(failed).toEqual([{ task: 1, failure: { error: failure } }]);
  });

  it("ends with the reason when it is aborted, and reports no failed task", async () => {
    const plan = planOf([9]);
    const { run, started } = heldTasks();
    const notes: TaskStats[] = [];
    const reporter = new TaskReporter(0, 0, (stats) => notes.push(stats));
    const stop = new AbortController();
    const how = { scheduler: schedulerOf(plan), reporter, signal: stop.signal };
    const all = rejection(runTasks(plan, run, how));
    await until(started, 3);
    stop.abort(new Error("enough"));
    expect(await all).toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(notes.flatMap(({ tasks }) => tasks).some((note) => note.failure)).toBe(false);
  });

  it("begins a stage when the one before has ended", async () => {
    const plan = planOf([1, 2]);
    const calls: string[] = [];
    const run: TaskRunner = async ({ kind, number }) => void calls.push(`${kind} ${number}`);
    const stageEnded = async (stage: number) => void calls.push(`end of ${stage}`);
    await runTasks(plan, run, { scheduler: schedulerOf(plan), stageEnded });
    expect(calls).toEqual(["scratch 0", "end of 0", "target 1", "target 2"]);
  });

  it("ends the tasks in flight once the scheduler is stopped, and starts no others", async () => {
    const plan = planOf([9]);
    const { run, running, started } = heldTasks();
    const scheduler = schedulerOf(plan);
    const all = runTasks(plan, run, { scheduler });
    await until(started, 3);
    expect([scheduler.stop(), scheduler.stop()]).toEqual([true, false]);
    for (const { end } of running.values()) end();
    await all;
    expect(started).toHaveLength(3);
  });
});

describe("LocalScheduler", () => {
  it("admits tasks by a budget that others use, too", async () => {
    const plan = planOf([4], 4);
    const budget = new ByteBudget(25 * KIB);
    const { run, running, started } = heldTasks();
    const other = await budget.acquire(10 * KIB);
    const scheduler = new LocalScheduler(plan.stages, budget);
    const all = runTasks(plan, run, { scheduler });
    await until(started, 1);
    expect(started).toEqual([0]);
    other.release();
    await until(started, 2);
    // those that wait for memory are in flight, too
    scheduler.stop();
    for (const number of [0, 1, 2, 3]) {
      await until(started, number + 1);
      running.get(number)?.end();
    }
    await all;
    expect([started, budget.leased]).toEqual([[0, 1, 2, 3], 0]);
  });

  it("counts what buffers hold", () => {
    const scheduler = local(planOf([1]));
    const { limit, onChange } = scheduler.buffers;
    for (const bytes of [5, 7, -5]) onChange(bytes);
    expect([limit, scheduler.taken, scheduler.peak]).toEqual([100 * KIB, 7, 12]);
  });

  it("fails for a task that never fits", async () => {
    const plan = planOf([1]);
    const run = vi.fn<TaskRunner>();
    const error = await rejection(runTasks(plan, run, { scheduler: local(plan, KIB) }));
    expect(error).toMatchObject({ code: "budget-too-small" });
    expect(run).not.toHaveBeenCalled();
  });
});
