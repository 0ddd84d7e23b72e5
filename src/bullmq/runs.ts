import { assertEncoders } from "../flows/jobs/open-plan.ts";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import { encodersHere } from "../flows/jobs/plan-file.ts";
import type { RunReport } from "../run/events.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, assertRules, isObject, type OptionNames } from "../util/options.ts";
import { pause } from "../util/pause.ts";
import { Connection, QUEUE_OPTIONS, type QueueOptions } from "./connection.ts";
import {
  failureFrom,
  JOB_OPTIONS,
  jobCounts,
  type PlanOption,
  planTextOf,
  RUN,
  type RunData,
  runId,
  SHARE,
  type ShareData,
  shareJobs,
} from "./job-data.ts";

export interface SubmitOptions extends QueueOptions {
  /** Number of jobs of each stage; by default enough that a job takes about half a minute. */
  readonly jobs?: number | undefined;
  /** The check before the target is published: reads back what was written, or compares all values. */
  readonly verify?: RunData["verify"] | undefined;
}

const SUBMIT_OPTIONS: OptionNames<SubmitOptions> = {
  ...QUEUE_OPTIONS,
  jobs: true,
  verify: true,
};

/** Characters of the largest plan that goes into a queue. */
const MAX_PLAN = 128 * 1024 ** 2;

/**
 * Puts a plan into a queue as a BullMQ flow: a job for each share of the first stage, and their parent. The parent adds
 * the next stage when the shares are done, and publishes the target after the last stage. The jobs contain the plan,
 * but no credentials. Submitting a plan again continues its run: completed jobs stay, dead jobs are tried again.
 *
 * @param planned the result of `plan`, or the text of a file that `zarrflow plan` wrote
 * @returns the state of the run
 * @throws `plan-mismatch` if this is no plan, or one of another version; `resource-limit` if it is too large;
 *   `transient` when the server is gone; `access-denied`; `unsupported-operation` without the package `bullmq`.
 */
export async function submit(planned: PlanOption, options: SubmitOptions): Promise<RunStatus> {
  assertKnown(options, SUBMIT_OPTIONS);
  const plan = planTextOf(planned);
  const { jobs: wanted, verify = false } = options;
  assertRules({ jobs: wanted }, { jobs: { expected: "a whole number from 1 to 10,000", holds: isCount } });
  const file = parsePlan(plan);
  const encoders = encodersHere();
  assertEncoders(file, encoders);
  if (plan.length > MAX_PLAN) {
    const hint = "Split it with --include, or run it as an array job.";
    throw new ZarrflowError("resource-limit", "the plan is too large for a queue", { hint });
  }
  const connection = await Connection.open(options);
  const { bullmq, name: queueName, queue } = connection;
  try {
    const { id } = file;
    const found = await connection.answer(queue.getJob(id));
    if (found === undefined) {
      const data: RunData = { plan, encoders, jobs: jobCounts(file, wanted), verify };
      const flow = connection.watched(new bullmq.FlowProducer(...connection.args({})));
      const children = shareJobs(id, 0, data).map((job) => ({ ...job, queueName }));
      const root = { name: RUN, queueName, data, opts: { ...JOB_OPTIONS, jobId: id }, children };
      try {
        await connection.answer(flow.add(root));
      } finally {
        await connection.end(flow);
      }
    } else if (await connection.answer(found.isFailed())) {
      const again = { resetAttemptsMade: true, resetAttemptsStarted: true };
      for (const job of await connection.answer(deadShares(queue, id))) {
        await connection.answer(job.retry("failed", again));
      }
      await connection.answer(found.retry("failed", again));
    }
    return await statusAt(connection, id);
  } finally {
    await connection.close();
  }
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 10_000;
}

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

/** An event of a job of a run, on any machine. */
export interface JobEvent {
  /** `stalled`: its worker is gone, and another one takes over. `retry`: it failed, and is tried again later. */
  readonly type: "start" | "progress" | "done" | "retry" | "dead" | "stalled";
  /** Counted from 1; absent for the job that ends the run. */
  readonly stage?: number;
  readonly index?: number;
  /** Tasks and bytes of a running or completed job. */
  readonly counts?: { readonly tasks: number; readonly bytesWritten: number };
  readonly reason?: string;
}

export interface FollowOptions extends QueueOptions {
  /** Called with the events of all jobs of the run, from all workers. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
}

const FOLLOW_OPTIONS: OptionNames<FollowOptions> = {
  ...QUEUE_OPTIONS,
  onEvent: true,
};

const POLL_MS = 2000;

/**
 * Waits until a run has ended, and reports the events of all its jobs in the meantime.
 *
 * @param plan the plan, the text of its file, or its id
 * @returns the sum of the work of all jobs
 * @throws the error that made the run fail; `not-found` for a plan that was not submitted; `transient` if the server is
 *   gone.
 */
export async function follow(plan: PlanOption, options: FollowOptions): Promise<RunReport> {
  assertKnown(options, FOLLOW_OPTIONS);
  const id = runId(plan);
  const connection = await Connection.open(options);
  const { QueueEvents } = connection.bullmq;
  const events = connection.watched(new QueueEvents(connection.name, ...connection.args({})));
  const { onEvent } = options;
  const tell = (jobId: string, event: Omit<JobEvent, "stage" | "index">) => {
    if (!jobId.startsWith(id)) return;
    const [stage, index] = jobId
      .slice(id.length + 1)
      .split("-")
      .map(Number);
    const which = index === undefined || stage === undefined ? {} : { stage: stage + 1, index };
    onEvent?.({ ...event, ...which });
  };
  events.on("active", ({ jobId }) => tell(jobId, { type: "start" }));
  events.on("stalled", ({ jobId }) => tell(jobId, { type: "stalled" }));
  events.on("delayed", ({ jobId }) => tell(jobId, { type: "retry" }));
  events.on("failed", ({ jobId, failedReason }) => tell(jobId, { type: "dead", reason: failedReason }));
  events.on("progress", ({ jobId, data }) => {
    const counts = countsOf(data);
    if (counts) tell(jobId, { type: "progress", counts });
  });
  events.on("completed", ({ jobId, returnvalue }) => {
    const counts = countsOf(returnvalue);
    tell(jobId, { type: "done", ...(counts && { counts }) });
  });
  try {
    for (;;) {
      const found = await statusAt(connection, id);
      if (found.state === "unknown") {
        throw new ZarrflowError("not-found", "this plan is not in the queue", {
          found: id,
          hint: "Submit it first.",
        });
      }
      if (found.report) return found.report;
      if (found.state === "failed") throw failureFrom(found.reason ?? "");
      await pause(POLL_MS, connection.signal);
    }
  } finally {
    await connection.end(events);
    await connection.close();
  }
}

function countsOf(value: unknown): JobEvent["counts"] {
  if (!isObject(value) || !("tasks" in value) || !("bytesWritten" in value)) return undefined;
  return { tasks: Number(value.tasks), bytesWritten: Number(value.bytesWritten) };
}
