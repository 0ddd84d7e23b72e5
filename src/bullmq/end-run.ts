import type { Job } from "bullmq";
import type { RunReport } from "../flows/events.ts";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import { sumOf } from "../flows/jobs/run-share.ts";
import { NOTHING_DONE } from "../flows/run/run-flow.ts";
import { formatNamed } from "../meta/formats.ts";
import { openStore } from "../stores/url.ts";
import { isZarrflowError } from "../util/errors.ts";
import type { Connection } from "./connection.ts";
import { type RunData, type ShareData, shareJobs } from "./job-data.ts";
import { deadShares } from "./status.ts";
import type { Work } from "./thread-messages.ts";

interface EndOptions {
  readonly connection: Connection;
  readonly perform: (work: Work) => Promise<RunReport>;
}

/**
 * Runs the parent job, which BullMQ starts each time that all shares of a stage have ended. It adds the next stage and
 * waits again, or publishes the target. Its progress is the stage that it added last; the number of stages means that
 * it publishes.
 *
 * @throws `WaitingChildrenError` while shares are running; `UnrecoverableError` if some are dead.
 */
export async function endRun(
  job: Job<RunData>,
  token: string,
  { connection, perform }: EndOptions,
): Promise<RunReport> {
  const { bullmq, queue } = connection;
  const { data, id = "" } = job;
  const stages = data.jobs.length;
  for (let added = Number(job.progress) || 0; ; ) {
    if (await job.moveToWaitingChildren(token)) throw new bullmq.WaitingChildrenError();
    const dead = await deadShares(queue, id);
    if (dead[0]) {
      const { stage } = dead[0].data as ShareData;
      const words = `${dead.length} of ${data.jobs[stage]} jobs of stage ${stage + 1} are dead. The first: ${dead[0].failedReason}`;
      throw new bullmq.UnrecoverableError(`tasks-undone: ${words}`);
    }
    if (added + 1 >= stages) break;
    added++;
    const parent = { id, queue: job.queueQualifiedName };
    await queue.addBulk(
      shareJobs(id, added, data).map((share) => ({ ...share, opts: { ...share.opts, parent } })),
    );
    await job.updateProgress(added);
  }
  const wasPublishing = Number(job.progress) === stages;
  await job.updateProgress(stages);
  const report = await publish(data, wasPublishing, perform);
  const shares = Object.values(await job.getChildrenValues<RunReport>());
  return shares.reduce(sumOf, { ...report, tasksResumed: 0 });
}

/** Publishes the target. A worker that was lost before it could report may have published it already. */
async function publish(
  { plan, verify }: RunData,
  wasPublishing: boolean,
  perform: EndOptions["perform"],
): Promise<RunReport> {
  try {
    return await perform({ verify });
  } catch (error) {
    const isGone = isZarrflowError(error, "not-found") || isZarrflowError(error, "target-exists");
    if (wasPublishing && isGone && (await isPublished(plan))) return NOTHING_DONE;
    throw error;
  }
}

async function isPublished(text: string): Promise<boolean> {
  const { target, publication } = parsePlan(text).plan;
  const store = await openStore(target.store);
  try {
    const { documentKeys } = formatNamed(publication.zarrFormat).layout(target.path);
    const sizes = await Promise.all(documentKeys.map((key) => store.size(key)));
    return sizes.some((size) => size !== undefined);
  } finally {
    await store.close?.();
  }
}
