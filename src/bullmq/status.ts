import type { RunReport } from "../run/events.ts";
import { assertKnown } from "../util/options.ts";
import { Connection, QUEUE_OPTIONS, type QueueOptions } from "./connection.ts";
import { type PlanOption, type RunData, runId, SHARE, type ShareData } from "./job-data.ts";

/** The state of a run. */
export interface RunStatus {
  /** The id of the plan. */
  readonly id: string;
  /** `unknown`: the plan was not submitted to this queue, or its run ended more than a week ago. */
  readonly state: "unknown" | "running" | "finished" | "failed";
  /** Counts of jobs over all stages; the jobs that are not counted are waiting. */
  readonly jobs: {
    readonly all: number;
    readonly done: number;
    readonly active: number;
    readonly dead: number;
  };
  /** Jobs that have failed for good; `submit` tries them again. */
  readonly dead: readonly DeadJob[];
  /** The reason why the run failed. */
  readonly reason?: string;
  /** The sum of the work of all jobs, once the run is finished. */
  readonly report?: RunReport;
}

/** A job that has failed for good. */
export interface DeadJob {
  /** Counted from 1. */
  readonly stage: number;
  readonly index: number;
  readonly count: number;
  readonly attempts: number;
  readonly reason: string;
}

/**
 * Returns the state of a plan's run.
 *
 * @param plan the plan, the text of its file, or its id
 * @throws `plan-mismatch` if this is no plan; `transient` when the server is gone; `access-denied`.
 */
export async function status(plan: PlanOption, options: QueueOptions): Promise<RunStatus> {
  assertKnown(options, QUEUE_OPTIONS);
  const id = runId(plan);
  const connection = await Connection.open(options);
  try {
    return await statusAt(connection, id);
  } finally {
    await connection.close();
  }
}

export async function statusAt(connection: Connection, id: string): Promise<RunStatus> {
  const { queue } = connection;
  const run = await connection.answer(queue.getJob(id));
  if (run === undefined) {
    return { id, state: "unknown", jobs: { all: 0, done: 0, active: 0, dead: 0 }, dead: [] };
  }
  const [state, counts, active, failed] = await connection.answer(
    Promise.all([
      run.getState(),
      run.getDependenciesCount(),
      queue.getActive(),
      deadShares(queue, id),
    ] as const),
  );
  const dead = failed.map(({ data, attemptsMade, failedReason }) => {
    const { stage, index, count } = data as ShareData;
    return { stage: stage + 1, index, count, attempts: attemptsMade, reason: failedReason };
  });
  return {
    id,
    state: state === "completed" ? "finished" : state === "failed" ? "failed" : "running",
    jobs: {
      all: (run.data as RunData).jobs.reduce((sum, count) => sum + count, 0),
      done: counts.processed ?? 0,
      active: active.filter(isShareOf(id)).length,
      dead: dead.length,
    },
    dead,
    ...(state === "failed" && { reason: run.failedReason }),
    ...(state === "completed" && { report: run.returnvalue as RunReport }),
  };
}

type Queue = Connection["queue"];
type Job = Awaited<ReturnType<Queue["getFailed"]>>[number];

/** The shares of a run that have failed for good. */
export async function deadShares(queue: Queue, id: string): Promise<Job[]> {
  return (await queue.getFailed()).filter(isShareOf(id));
}

function isShareOf(id: string): (job: Job | undefined) => boolean {
  return (job) => job?.name === SHARE && (job.data as ShareData).run === id;
}
