import { defineCommand } from "../define-command.ts";
import { wholeNumber } from "../option-values.ts";
import { reportJob } from "../plan-jobs.ts";
import { planAccessOf, planAccessOptions } from "../request-headers.ts";
import { outputOptions } from "../shared-options.ts";
import { taskNumber } from "../task-number.ts";

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
