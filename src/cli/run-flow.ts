import type { Planned } from "../flows/flow.ts";
import { streamFrom } from "../util/web-streams.ts";
import type { Values } from "./command-line.ts";
import { checkReplaceable, writeOutputFile } from "./file-output.ts";
import { peakMemory } from "./peak-memory.ts";
import { eventAdvance } from "./progress/flow-advance.ts";
import { progressView } from "./progress/view.ts";
import { type RunRecord, RunRecorder } from "./report/run-record.ts";
import { runOptions, type tellingOptions, type writingOptions } from "./shared-options.ts";
import type { Terminal } from "./terminal.ts";
import { packageVersion } from "./version.ts";
import { toJson } from "./words/json.ts";
import { planText } from "./words/plan.ts";
import { reportText } from "./words/report.ts";

type FlowValues = Values<typeof writingOptions & typeof tellingOptions>;

/** Runs what was planned and says what came of it; with `--dry-run` it only prints the plan. */
export async function runPlanned(planned: Planned, values: FlowValues, terminal: Terminal): Promise<void> {
  const { json, quiet, report: page } = values;
  const { plan } = planned;
  if (values["dry-run"]) return terminal.write(json ? `${toJson(plan, 2)}\n` : planText(plan));

  if (page !== undefined) await checkReplaceable(page);
  const recorder = new RunRecorder();
  const report = await runShowingProgress(planned, values, recorder, terminal);
  const peak = peakMemory();
  if (page !== undefined)
    await writePage(page, recorder.record({ ...named(), plan, report, peakMemory: peak }), terminal);
  if (json) await terminal.write(`${toJson({ ...report, peakMemory: peak }, 2)}\n`);
  else if (!quiet) terminal.tell(reportText(report, plan, peak));
}

async function runShowingProgress(
  planned: Planned,
  values: FlowValues,
  recorder: RunRecorder,
  { errors, signal }: Terminal,
) {
  const { runFlow } = await import("../flows/flow.ts");
  const view = progressView(errors, { quiet: values.quiet, noLines: values.json });
  const advance = eventAdvance(planned.plan);
  try {
    return await runFlow(planned, {
      ...runOptions(values, signal),
      onEvent: (event) => {
        recorder.note(event);
        const latest = advance(event);
        if (latest) view.show(latest);
      },
    });
  } finally {
    view.stop();
  }
}

/** What was run, in words of whoever ran it, but for what a URL may hold of credentials. */
function named(): { readonly command: string; readonly version: string } {
  const words = ["zarrflow", ...process.argv.slice(2)].map((word) =>
    word.replace(/:\/\/[^/@]*@/, "://").replace(/^([a-z][\w+.-]*:\/\/[^?]*)\?.*/i, "$1"),
  );
  return { command: words.join(" "), version: packageVersion() };
}

async function writePage(path: string, run: RunRecord, { signal }: Terminal): Promise<void> {
  const { reportPage } = await import("./report/page.ts");
  const bytes = new TextEncoder().encode(reportPage(run));
  await writeOutputFile(path, streamFrom([bytes]), { ifExists: "replace", signal });
}
