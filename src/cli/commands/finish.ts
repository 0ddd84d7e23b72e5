import { defineCommand } from "../parse-arguments.ts";
import { outputOptions, planAccessOf, planAccessOptions, writingOptions } from "../shared-options.ts";
import { reportJob } from "./run.ts";

export const command = defineCommand({
  usage: "PLAN",
  notes: [
    "Publishes the target of a plan once all its shares are done, and removes their records and scratch objects. If",
    "tasks are missing, nothing changes: the error says how many, and what to run again.",
  ],
  operands: [1, 1],
  options: {
    verify: writingOptions.verify,
    ...planAccessOptions,
    ...outputOptions,
  },
  examples: [
    { line: "finish plan.json", says: "publish what the jobs wrote" },
    { line: "finish plan.json --verify", says: "read every key back before publishing" },
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
