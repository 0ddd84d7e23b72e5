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
    "all shares are done. Every process takes neighbouring tasks of about the same cost, and skips what is done.",
    "Without the flags, index and count are those of a SLURM or AWS Batch array job; in a Kubernetes Indexed Job",
    "the index is, and --task-count is needed. Exit code 75 asks to run a share again: after SIGTERM, or while",
    "other processes have not completed the stage before. A plan has no credentials: what the source's URL or",
    "--header had is given again, by flags or in ZARRFLOW_QUERY and ZARRFLOW_HEADERS.",
  ],
  operands: [1, 1],
  options: {
    "task-index": { type: "string", value: "I", summary: "the share of this process, from 0 to N - 1" },
    "task-count": { type: "string", value: "N", summary: "how many shares there are" },
    stage: {
      type: "string",
      value: "S",
      summary: "run only this stage of the plan, from 1 on; by default all, one after the other",
    },
    ...planAccessOptions,
    ...outputOptions,
  },
  examples: [
    {
      line: "run plan.json --task-index 3 --task-count 8",
      says: "the fourth of 8 shares, in a job of any kind",
    },
    { line: "run plan.json --stage 1", says: "in a SLURM array job: its share of the first stage" },
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
    hint: "Indexes begin at 0. An array job must have as many tasks as the count says.",
  });
}

function wholeOf(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ZarrflowError("invalid-option", `${name} is not a whole number`, {
    found: text,
    hint: "The indexes of an array job must follow one another, with one step.",
  });
}

function missing(reason: string): ZarrflowError {
  return new ZarrflowError("task-count-missing", reason, {
    hint: "Write --task-index I --task-count N, or start this as a task of an array job. In Kubernetes a pod does not know the count: give it with --task-count.",
  });
}
