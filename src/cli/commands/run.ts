import { ZarrflowError } from "../../util/errors.ts";
import { wholeNumber } from "../option-values.ts";
import { defineCommand } from "../parse-arguments.ts";
import { reportJob } from "../plan-jobs.ts";
import { planAccessOf, planAccessOptions } from "../request-headers.ts";
import { outputOptions } from "../shared-options.ts";

export const command = defineCommand({
  usage: "PLAN --task-index I --task-count N",
  notes: [
    "Runs one share of the tasks of a plan that `zarrflow plan` wrote; `zarrflow finish` publishes the target when",
    "all shares are done. Each share is a run of neighbouring tasks, and all shares cost about the same. Tasks that",
    "are done already are skipped.",
    "In a SLURM or AWS Batch array job, index and count are taken from the job. In a Kubernetes Indexed Job only",
    "the index is, so --task-count is required. Exit code 75 means that the share must run again: after SIGTERM, or",
    "because other processes have not completed the stage before. A plan contains no credentials: pass the query of",
    "the source's URL and headers again, by flags or in ZARRFLOW_QUERY and ZARRFLOW_HEADERS.",
  ],
  operands: [1, 1],
  options: {
    "task-index": { type: "string", value: "I", summary: "the share of this process, from 0 to N - 1" },
    "task-count": { type: "string", value: "N", summary: "the number of shares" },
    stage: {
      type: "string",
      value: "S",
      summary: "run only this stage of the plan, counted from 1; by default all stages in order",
    },
    ...planAccessOptions,
    ...outputOptions,
  },
  examples: [
    {
      line: "run plan.json --task-index 3 --task-count 8",
      says: "the fourth of 8 shares, in any kind of job",
    },
    { line: "run plan.json --stage 1", says: "the share of a SLURM array task in the first stage" },
  ],
  async run([path = ""], values, terminal) {
    const { "task-index": index, "task-count": count, stage } = values;
    const access = planAccessOf(values);
    const share = taskNumber({ index, count }, process.env);
    const { runShare } = await import("../../flows/jobs/run-share.ts");
    await reportJob(path, values, terminal, (file, options) =>
      runShare(file, {
        ...options,
        ...access,
        ...share,
        ...(stage !== undefined && { stage: wholeNumber("stage", stage) - 1 }),
      }),
    );
  },
});

type Variables = Readonly<Record<string, string | undefined>>;

/** The share of a process: its index, and the number of all shares. */
export interface TaskNumber {
  readonly index: number;
  readonly count: number;
}

/**
 * Returns the share of this process, from its flags or from the environment that the engine sets. A SLURM array may
 * begin at any number and have any step, unless the count is given.
 *
 * @throws `task-count-missing` if index or count are unknown; `invalid-option` if they are not numbers, or out of
 *   range.
 */
export function taskNumber(
  flags: { readonly index?: string | undefined; readonly count?: string | undefined },
  env: Variables,
): TaskNumber {
  const given = flags.count ?? env.ZARRFLOW_TASK_COUNT;
  const own = flags.index ?? env.ZARRFLOW_TASK_INDEX;
  if (own !== undefined) return known("the task index", own, given);
  const {
    SLURM_ARRAY_TASK_ID: id,
    SLURM_ARRAY_TASK_COUNT: count,
    SLURM_ARRAY_TASK_MIN: least = "0",
    SLURM_ARRAY_TASK_STEP: step = "1",
  } = env;
  if (id !== undefined && given === undefined && count !== undefined) {
    const [from, by] = [wholeOf("SLURM_ARRAY_TASK_MIN", least), wholeOf("SLURM_ARRAY_TASK_STEP", step)];
    const index = (wholeOf("SLURM_ARRAY_TASK_ID", id) - from) / Math.max(1, by);
    return known("the index of the SLURM array", String(index), count);
  }
  if (id !== undefined) return known("SLURM_ARRAY_TASK_ID", id, given);
  const { JOB_COMPLETION_INDEX: completion, AWS_BATCH_JOB_ARRAY_INDEX: batch } = env;
  if (completion !== undefined) return known("JOB_COMPLETION_INDEX", completion, given);
  if (batch !== undefined)
    return known("AWS_BATCH_JOB_ARRAY_INDEX", batch, given ?? env.AWS_BATCH_JOB_ARRAY_SIZE);
  throw missing("the task index and the task count are not known");
}

function known(name: string, index: string, count: string | undefined): TaskNumber {
  if (count === undefined) throw missing("the task count is not known");
  const number = { index: wholeOf(name, index), count: wholeOf("the task count", count) };
  if (number.index < number.count) return number;
  throw new ZarrflowError("invalid-option", `${name} is out of range`, {
    expected: number.count === 0 ? "a task count of 1 or more" : `0 to ${number.count - 1}`,
    found: number.index,
    hint: "Indexes begin at 0. The array job must have as many tasks as the count.",
  });
}

function wholeOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ZarrflowError("invalid-option", `${name} is not a whole number`, {
    found: text,
    hint: "The indexes of an array job must be consecutive.",
  });
}

function missing(reason: string): ZarrflowError {
  return new ZarrflowError("task-count-missing", reason, {
    hint: "Pass --task-index I --task-count N, or run this as a task of an array job. A Kubernetes pod does not know the count: pass it with --task-count.",
  });
}
