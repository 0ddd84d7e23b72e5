import { defineCommand } from "../parse-arguments.ts";
import { reportJob } from "../plan-jobs.ts";
import { planAccessOf, planAccessOptions } from "../request-headers.ts";
import { outputOptions, writingOptions } from "../shared-options.ts";

export const command = defineCommand({
  usage: "PLAN",
  notes: [
    "Publishes the target of a plan when all its shares are done, and removes what they kept beside it and as",
    "scratch objects. If tasks are not done, nothing changes: the error says how many, and what to run again.",
  ],
  operands: [1, 1],
  options: {
    verify: writingOptions.verify,
    ...planAccessOptions,
    ...outputOptions,
  },
  examples: [
    { line: "finish plan.json", says: "publish what the jobs have written" },
    { line: "finish plan.json --verify", says: "read every key back before" },
  ],
  async run([path = ""], values, terminal) {
    const { verify = false } = values;
    const access = planAccessOf(values);
    const { finishPlan } = await import("../../flows/jobs/run-share.ts");
    await reportJob(path, values, terminal, (file, options) =>
      finishPlan(file, { ...options, ...access, verify }),
    );
  },
});
