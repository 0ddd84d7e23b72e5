import { readFile, stat } from "node:fs/promises";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import { encodersHere, type PlanFile } from "../flows/jobs/plan-file.ts";
import type { JobOptions } from "../flows/jobs/run-share.ts";
import { counted } from "../flows/text/format.ts";
import type { FlowEvent, RunReport } from "../run/events.ts";
import { fileError } from "../stores/files/file-error.ts";
import { EXIT_CODES, ZarrflowError } from "../util/errors.ts";
import { formatBytes } from "../util/units.ts";
import { followRun } from "./optimise-later.ts";
import type { Values } from "./parse-arguments.ts";
import { peakMemory } from "./peak-memory.ts";
import { eventAdvance } from "./progress/event-progress.ts";
import { progressView } from "./progress/view.ts";
import type { outputOptions } from "./shared-options.ts";
import type { Terminal } from "./terminal.ts";
import { toJson } from "./text/json.ts";
import { warningText } from "./text/warning.ts";

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
  { quiet, json, "no-warnings": noWarnings }: Values<typeof outputOptions>,
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
