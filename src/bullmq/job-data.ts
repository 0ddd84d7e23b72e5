import { parsePlan } from "../flows/jobs/parse-plan.ts";
import type { Encoders, PlanFile } from "../flows/jobs/plan-file.ts";
import type { Planned } from "../flows/stored-plan.ts";
import type { RunCounts, RunReport } from "../run/events.ts";
import type { ShareName } from "../targets/options.ts";
import { type ErrorCode, EXIT_CODES, isZarrflowError, ZarrflowError } from "../util/errors.ts";

/**
 * Names of jobs: a share of a stage, and the parent of all shares, which starts further stages and publishes at the
 * end.
 */
export const SHARE = "share";
export const RUN = "run";

/** The data of the job of a run. Jobs contain no credentials, since plans have none. */
export interface RunData {
  /** The text of the plan file. */
  readonly plan: string;
  readonly encoders: Encoders;
  /** Number of jobs of each stage. */
  readonly jobs: readonly number[];
  readonly verify: boolean | "written" | "values";
}

/** The data of the job of a share. */
export interface ShareData extends ShareName {
  readonly run: string;
}

/** How long completed jobs are kept: a week. BullMQ takes seconds. */
const KEPT = { age: 7 * 24 * 3600 };

/** Every job is retried after 1, 2, 4 and 8 seconds. Dead jobs are kept, with the reason. */
export const JOB_OPTIONS = {
  attempts: 5,
  backoff: { type: "exponential", delay: 1000 },
  removeOnComplete: KEPT,
  removeOnFail: false,
} as const;

/** The id of a share. It follows from the plan's id, so a job that is submitted again is the same job. */
export function shareId({ run, stage, index }: ShareData): string {
  return `${run}-${stage}-${index}`;
}

/** The jobs of a stage. The run waits for all of them, even if some fail for good. */
export function shareJobs(run: string, stage: number, { jobs }: Pick<RunData, "jobs">) {
  const count = jobs[stage] ?? 0;
  return Array.from({ length: count }, (_, index) => {
    const data: ShareData = { run, stage, index, count };
    const opts = { ...JOB_OPTIONS, jobId: shareId(data), ignoreDependencyOnFailure: true };
    return { name: SHARE, data, opts };
  });
}

/**
 * Predicted seconds of a job, by a plan that assumes more threads than a worker has; and the rate to assume where the
 * plan predicts no time.
 */
const JOB_SECONDS = 10;
const BYTES_PER_SECOND = 50_000_000;
const MAX_JOBS = 10_000;

/** The number of jobs of each stage. */
export function jobCounts({ plan }: PlanFile, wanted: number | undefined): number[] {
  const { predictedSeconds, decodedBytes } = plan.totals;
  const stages = Math.max(1, plan.stages.length);
  const seconds = (predictedSeconds ?? decodedBytes / BYTES_PER_SECOND) / stages;
  const usual = Math.min(MAX_JOBS, Math.ceil(seconds / JOB_SECONDS));
  return Array.from({ length: stages }, (_, stage) =>
    Math.max(1, Math.min(wanted ?? usual, plan.stages[stage] || (wanted ?? 1))),
  );
}

/** A plan: the result of `plan`, or the text of a file that `zarrflow plan` wrote. */
export type PlanOption = Pick<Planned, "toJSON"> | string;

/** The plan as text. @throws `unsupported-operation` for a plan that several processes cannot run. */
export function planTextOf(plan: PlanOption): string {
  return typeof plan === "string" ? plan : JSON.stringify(plan);
}

/** The id of a run: the plan's id, or an id given instead of a plan. @throws `plan-mismatch` */
export function runId(plan: PlanOption): string {
  const text = planTextOf(plan);
  return /^[0-9a-f-]{36}$/.test(text) ? text : parsePlan(text).id;
}

/** The text under which a job keeps a failure. */
export function reasonOf(error: unknown): string {
  if (!isZarrflowError(error)) return error instanceof Error ? error.message : String(error);
  const { hint, store } = error.details;
  return [`${error.code}: ${error.message}`, store, hint].filter((part) => part !== undefined).join("; ");
}

/** The failure from the text that a job kept. */
export function failureFrom(reason: string): ZarrflowError {
  const [, code = "", words = reason] = /^([a-z-]+): (.*)$/s.exec(reason) ?? [];
  const known = Object.hasOwn(EXIT_CODES, code) ? (code as ErrorCode) : "transient";
  return ZarrflowError.like({ code: known, reason: known === code ? words : reason, details: {} });
}

/** The work of a job: a share, or the end of the run. */
export type Work = { readonly share: ShareName } | { readonly verify: RunData["verify"] };

export type ToThread =
  | {
      readonly type: "work";
      /** The text of the plan; absent if the thread's last plan is the same. */
      readonly plan: string | undefined;
      readonly encoders: Encoders;
      readonly trustMap: boolean;
      readonly work: Work;
    }
  /** Stops after the tasks in flight. */
  | { readonly type: "stop" }
  | { readonly type: "abort" };

export type FromThread =
  | { readonly type: "progress"; readonly counts: RunCounts }
  | { readonly type: "done"; readonly report: RunReport }
  | { readonly type: "failed"; readonly error: unknown };
