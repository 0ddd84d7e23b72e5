import { assertEncoders } from "../flows/jobs/open-plan.ts";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import { encodersHere } from "../flows/jobs/plan-file.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, assertRules, type OptionNames } from "../util/options.ts";
import { Connection, QUEUE_OPTIONS, type QueueOptions } from "./connection.ts";
import {
  JOB_OPTIONS,
  jobCounts,
  type PlanOption,
  planTextOf,
  RUN,
  type RunData,
  shareJobs,
} from "./job-data.ts";
import { deadShares, type RunStatus, statusAt } from "./status.ts";

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
