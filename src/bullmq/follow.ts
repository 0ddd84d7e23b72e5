import type { RunReport } from "../run/events.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, isObject, type OptionNames } from "../util/options.ts";
import { pause } from "../util/pause.ts";
import { Connection, QUEUE_OPTIONS, type QueueOptions } from "./connection.ts";
import { failureFrom, type PlanOption, runId } from "./job-data.ts";
import { statusAt } from "./status.ts";

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
