import { readFile, stat } from "node:fs/promises";
import { parsePlan } from "../../flows/jobs/parse-plan.ts";
import { encodersHere, type PlanFile } from "../../flows/jobs/plan-file.ts";
import type { JobOptions } from "../../flows/jobs/run-share.ts";
import type { FlowEvent, RunReport } from "../../run/events.ts";
import { fileError } from "../../stores/files/file-error.ts";
import { EXIT_CODES, ZarrflowError } from "../../util/errors.ts";
import { counted } from "../../util/names.ts";
import { formatBytes } from "../../util/units.ts";
import { followRun, peakMemory } from "../node-process.ts";
import { countOf } from "../option-values.ts";
import { defineCommand, type FlagValues } from "../parse-arguments.ts";
import { eventAdvance, warningText } from "../progress/event-progress.ts";
import { progressView } from "../progress/view.ts";
import { outputOptions, planAccessOf, planAccessOptions, writingOptions } from "../shared-options.ts";
import type { Terminal } from "../terminal.ts";
import { toJson } from "../text/results.ts";

export const command = defineCommand({
  usage: "PLAN --task-index I --task-count N",
  notes: [
    "Runs one share of the tasks of a plan that `zarrflow plan` wrote; `zarrflow finish` publishes the target when",
    "all shares are done. Each share is a run of neighboring tasks, and all shares cost about the same. Tasks that",
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
        ...(stage !== undefined && { stage: countOf("stage", stage) - 1 }),
      }),
    );
  },
});

export const finish = defineCommand({
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

/** Bytes of the largest plan that is read: one of 100,000 arrays has some hundreds of megabytes. */
const MAX_PLAN = 1024 ** 3;

/** The system stopped a job, which must run again. */
export class Requeue extends Error {
  override readonly name = "Requeue";
  readonly exitCode = EXIT_CODES["tasks-undone"];
}

/** Runs a step of a plan file, and reports the result. */
export async function reportJob(
  path: string,
  { quiet, json, "no-warnings": noWarnings }: FlagValues<typeof outputOptions>,
  { errors, signal, interrupts, printLine, write }: Terminal,
  step: (file: PlanFile, options: JobOptions) => Promise<RunReport>,
): Promise<void> {
  const file = parsePlan(await planText(path));
  const view = progressView(errors, { quiet, noLines: json });
  const advance = eventAdvance();
  const onEvent = (event: FlowEvent) => {
    followRun(event);
    if (event.type === "warning" && !noWarnings) printLine(warningText(event));
    const latest = advance(event);
    if (latest) view.show(latest);
  };
  const stop = interrupts.stopFirst();
  let report: RunReport;
  try {
    report = await step(file, { encoders: encodersHere(), signal, stop, onEvent });
  } catch (error) {
    const { interruption } = interrupts;
    throw interruption && interruption.by !== "SIGINT" ? new Requeue("stopped", { cause: error }) : error;
  } finally {
    view.stop();
  }
  if (json) await write(`${toJson({ ...report, peakMemory: peakMemory() }, 2)}\n`);
  else if (!quiet) printLine(reportLine(report));
}

/** @throws `not-found`, `resource-limit`, and errors of reading the file. */
async function planText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_PLAN) {
      throw new ZarrflowError("resource-limit", "the plan is too large", {
        expected: `at most ${formatBytes(MAX_PLAN)}`,
        found: formatBytes(size),
      });
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof ZarrflowError) throw error;
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      throw new ZarrflowError("not-found", `there is no file \`${path}\``, {
        hint: "Make a plan with `zarrflow plan copy SRC DST --output plan.json`.",
      });
    }
    throw fileError(error, { store: `file ${path}` });
  }
}

function reportLine({ tasks, tasksResumed = 0, keysWritten, bytesWritten, seconds }: RunReport): string {
  const before = tasksResumed > 0 ? `, ${counted(tasksResumed, "task")} done before` : "";
  const written = `${counted(keysWritten, "key")} written (${formatBytes(bytesWritten)})`;
  return `${counted(tasks, "task")} done${before}, ${written} in ${seconds.toFixed(1)} s`;
}
