import type { Planned } from "../flows/flow.ts";
import type { Values } from "./command-line.ts";
import { peakMemory } from "./peak-memory.ts";
import { eventAdvance } from "./progress/flow-advance.ts";
import { progressView } from "./progress/view.ts";
import { runOptions, type tellingOptions, type writingOptions } from "./shared-options.ts";
import type { Terminal } from "./terminal.ts";
import { toJson } from "./words/json.ts";
import { planText } from "./words/plan.ts";
import { reportText } from "./words/report.ts";

type FlowValues = Values<typeof writingOptions & typeof tellingOptions>;

/** Runs what was planned and says what came of it; with `--dry-run` it only prints the plan. */
export async function runPlanned(planned: Planned, values: FlowValues, terminal: Terminal): Promise<void> {
  const { json, quiet } = values;
  const { plan } = planned;
  if (values["dry-run"]) return terminal.write(json ? `${toJson(plan, 2)}\n` : planText(plan));

  const report = await runShowingProgress(planned, values, terminal);
  const peak = peakMemory();
  if (json) await terminal.write(`${toJson({ ...report, peakMemory: peak }, 2)}\n`);
  else if (!quiet) terminal.tell(reportText(report, plan, peak));
}

async function runShowingProgress(planned: Planned, values: FlowValues, { errors, signal }: Terminal) {
  const { runFlow } = await import("../flows/flow.ts");
  const view = progressView(errors, { quiet: values.quiet, noLines: values.json });
  const advance = eventAdvance(planned.plan);
  try {
    return await runFlow(planned, {
      ...runOptions(values, signal),
      onEvent: (event) => {
        const latest = advance(event);
        if (latest) view.show(latest);
      },
    });
  } finally {
    view.stop();
  }
}
