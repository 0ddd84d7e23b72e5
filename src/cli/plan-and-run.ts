import type { PlannedFlow } from "../flows/request/flow.ts";
import type { PlanOptions } from "../flows/request/flow-options.ts";
import { locationText } from "../flows/text/format.ts";
import type { Plan } from "../plan/plan.ts";
import type { FlowEvent, RunReport } from "../run/events.ts";
import { packageVersion } from "../util/package-version.node.ts";
import { redact } from "../util/redact.ts";
import { streamFrom } from "../util/web-streams.ts";
import { assertFilesApart, assertOutputReplaceable, writeOutputFile } from "./file-output.ts";
import { followRun, peakMemory } from "./node-process.ts";
import { filterOf, planOptions, runOptions } from "./option-values.ts";
import { assertNamedAsPage } from "./output-names.ts";
import type { FlagValues } from "./parse-arguments.ts";
import { eventAdvance, RetryLog, warningText } from "./progress/event-progress.ts";
import { progressView } from "./progress/view.ts";
import { RunRecorder } from "./report/run-record.ts";
import type { filterOptions, outputOptions, updateOption, writingOptions } from "./shared-options.ts";
import type { Terminal } from "./terminal.ts";
import {
  commandLine,
  failureText,
  resumingCommand,
  UnfinishedRunError,
  type UnfinishedWords,
} from "./text/failure.ts";
import { reportText } from "./text/report.ts";
import { toJson } from "./text/results.ts";
import type { TraceFile } from "./trace.ts";

type FlowValues = FlagValues<
  typeof filterOptions & typeof writingOptions & typeof updateOption & typeof outputOptions
>;
type OnEvent = (event: FlowEvent) => void;

/**
 * Plans and runs a flow with the options of the flags, and reports the result. With `--dry-run`, only checks the flow
 * and prints its plan.
 */
export async function planAndRun(
  source: string,
  target: string,
  changes: PlanOptions,
  values: FlowValues,
  terminal: Terminal,
): Promise<void> {
  const options = { ...planOptions(values, terminal.signal), ...changes, ...filterOf(values) };
  const { planFlow } = await import("../flows/request/flow.ts");
  const recorder = new RunRecorder();
  const retries = new RetryLog(values.quiet || values.json ? () => {} : terminal.printLine);
  const trace = values.trace === undefined ? undefined : await openTrace(values.trace);
  const onEvent = (event: FlowEvent) => {
    trace?.note(event);
    followRun(event);
    recorder.note(event);
    if (event.type === "retry") retries.note(event.retry);
  };
  try {
    const planned = await planFlow(source, target, { ...options, onEvent });
    await beginFiles(planned, values, trace);
    if (values["dry-run"]) await showPlan(planned, values, onEvent, recorder, terminal);
    else await run(planned, values, recorder, terminal);
  } finally {
    trace?.close();
  }
}

/** Checks the files that flags name, and opens the trace file, before anything is written. */
async function beginFiles(
  { plan, close }: PlannedFlow,
  { trace: tracePath, report }: FlowValues,
  trace: TraceFile | undefined,
): Promise<void> {
  try {
    const files = { trace: tracePath, report };
    await assertFilesApart(files, { source: plan.source.store, target: plan.target.store });
    trace?.open();
  } catch (error) {
    await close();
    throw error;
  }
}

async function openTrace(path: string): Promise<TraceFile> {
  const { TraceFile } = await import("./trace.ts");
  return new TraceFile(path);
}

/** Checks that the flow can run, prints its plan, writes the report page, and closes the flow. */
async function showPlan(
  planned: PlannedFlow,
  values: FlowValues,
  onEvent: OnEvent,
  recorder: RunRecorder,
  { write, signal }: Terminal,
): Promise<void> {
  const { assertFlow } = await import("../flows/run-flow.ts");
  const { estimateCopy } = await import("../flows/estimate-copy.ts");
  const { json, explain, report: page } = values;
  try {
    const { plan } = planned;
    const taken = await planned.taken();
    if (page !== undefined) await assertPage(page);
    await assertFlow(planned, runOptions(values, signal));
    const copied = await estimateCopy(planned, { signal, onEvent });
    const { planText } = await import("../flows/text/plan.ts");
    await write(
      json
        ? `${toJson({ ...plan, ...(taken.length > 0 && { taken }), copied }, 2)}\n`
        : planText(plan, { copied, explain, taken, warning: warningText }),
    );
    if (page === undefined) return;
    const { planPage } = await import("./report/page.ts");
    await writePage(page, planPage(recorder.planned({ ...named(), plan, taken })), signal);
  } finally {
    await planned.close();
  }
}

async function run(
  planned: PlannedFlow,
  values: FlowValues,
  recorder: RunRecorder,
  terminal: Terminal,
): Promise<void> {
  const { json, quiet, report: page } = values;
  const { plan } = planned;
  const taken = await planned.taken();
  if (page !== undefined) await assertPage(page);
  const writeReport = async (report: RunReport, failure?: string) => {
    if (page === undefined) return;
    const { reportPage } = await import("./report/page.ts");
    const record = { ...named(), plan, taken, report, peakMemory: peakMemory(), ...(failure && { failure }) };
    // whoever interrupts a run still wants its report
    const signal = failure === undefined ? terminal.signal : new AbortController().signal;
    await writePage(page, reportPage(recorder.record(record)), signal);
  };
  const report = await runShowingProgress(planned, values, terminal).catch(async (error) => {
    await writeReport(recorder.report, reportedFailure(error)).catch(() => {});
    throw error;
  });
  const peak = peakMemory();
  await writeReport(report);
  const { retries } = recorder;
  if (json)
    await terminal.write(
      `${toJson({ ...report, ...(taken.length > 0 && { taken }), retries, peakMemory: peak }, 2)}\n`,
    );
  else if (!quiet) terminal.printLine(reportText(report, { plan, taken }, peak));
}

async function assertPage(file: string): Promise<void> {
  assertNamedAsPage(file);
  await assertOutputReplaceable(file);
}

/** The text that the terminal shows for a failure. */
function reportedFailure(thrown: unknown): string {
  const unfinished = thrown instanceof UnfinishedRunError ? thrown : undefined;
  return redact(failureText(unfinished?.cause ?? thrown, { unfinished: unfinished?.words }));
}

async function runShowingProgress(
  planned: PlannedFlow,
  values: FlowValues,
  { errors, signal, interrupts, printLine }: Terminal,
) {
  const { runFlow } = await import("../flows/run-flow.ts");
  const view = progressView(errors, { quiet: values.quiet, noLines: values.json });
  const { plan } = planned;
  const advance = eventAdvance();
  let unfinished: UnfinishedWords | undefined;
  try {
    return await runFlow(planned, {
      ...runOptions(values, signal),
      stop: interrupts.stopFirst(),
      onEvent: (event) => {
        if (event.type === "unfinished") unfinished = unfinishedWords(plan, event.tasks);
        if (event.type === "warning" && !values["no-warnings"]) printLine(warningText(event));
        const latest = advance(event);
        if (latest) view.show(latest);
      },
    });
  } catch (error) {
    throw unfinished ? new UnfinishedRunError(error, unfinished) : error;
  } finally {
    view.stop();
  }
}

function unfinishedWords({ stages, target }: Plan, tasks: number): UnfinishedWords {
  return {
    tasks,
    allTasks: stages.reduce((sum, inStage) => sum + inStage, 0),
    resume: resumingCommand(),
    clean: commandLine(["clean", locationText(target.store, target.path)]),
  };
}

/** The command line without credentials, and the version. */
function named(): { readonly command: string; readonly version: string } {
  return { command: commandLine(process.argv.slice(2)), version: packageVersion() };
}

async function writePage(path: string, page: string, signal: AbortSignal): Promise<void> {
  const bytes = new TextEncoder().encode(page);
  await writeOutputFile(path, streamFrom([bytes]), { ifExists: "replace", signal });
}
