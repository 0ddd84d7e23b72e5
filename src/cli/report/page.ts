import { counted, formatDuration, grouped, place, takenRows } from "../../flows/text/format.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatBytes } from "../../util/units.ts";
import { arraySection, arrayTable } from "./array-section.ts";
import { type Content, Html, html, STYLE } from "./html.ts";
import { lineChart } from "./line-chart.ts";
import type { PlanRecord, RunRecord, Sample } from "./run-record.ts";

/** Maximum number of arrays with a section, and of further ones with a row. The rest are only counted. */
const MAX_SECTIONS = 40;
const MAX_ROWS = 400;

/** Seconds below which a rate means nothing. */
const SHORTEST_SPAN = 0.05;

/** A self-contained page about a completed or failed run: no script, no external content. */
export function reportPage(run: RunRecord): string {
  const { report, peakMemory, failure } = run;
  return page(
    run,
    html`${failure !== undefined && failed(failure)}<div class="figures">
${figure("time", formatDuration(report.seconds))}${figure("read and written", `${rate(report.bytesRead + report.bytesWritten, report.seconds)}`)}${figure("peak memory of buffers", formatBytes(report.peakBuffers))}${figure("peak memory of the process", formatBytes(peakMemory))}</div>
<h2>Planned and measured</h2>
${figures(run.plan, run)}<h2>Over time</h2>
${charts(run)}<h2>Arrays</h2>
${arrays(run)}`,
  );
}

function failed(failure: string): Html {
  return html`<section class="card"><h2>The run failed</h2>
<pre>${failure}</pre>
<p class="soft">What it did before it failed:</p></section>
`;
}

/** The page about a plan that is not run. */
export function planPage(planned: PlanRecord): string {
  return page(
    planned,
    html`<p>This is a plan; nothing has run yet.</p>
<h2>Planned</h2>
${figures(planned.plan)}<h2>Arrays</h2>
${arrays(planned)}`,
  );
}

function page({ plan, taken = [], command, version, started }: PlanRecord, body: Html): string {
  const [source, target] = [
    place(plan.source.store, plan.source.path),
    place(plan.target.store, plan.target.path),
  ];
  const title = `${plan.operation} ${source} → ${target}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="generator" content="zarrflow ${version}">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p class="soft"><code>${command}</code></p>
<p class="soft">${started.toISOString().replace("T", " ").slice(0, 19)} UTC, zarrflow ${version}</p>
${takenRows(taken).map(
  ([dimension, items]) => html`<p><b>${dimension}</b> ${items}</p>
`,
)}${body}</main>
</body>
</html>
`.text;
}

function figure(name: string, value: string): Html {
  return html`<div class="figure"><b>${value}</b><span class="soft">${name}</span></div>
`;
}

type Row = readonly [name: string, planned: Content, measured: Content];

/** A table of the plan's figures, and of those measured if there is a run. */
function figures(plan: Plan, run?: RunRecord): Html {
  const measured = run && measuredRows(run);
  const rows = plannedRows(plan).map(([name, planned]): Row => [name, planned, measured?.get(name)]);
  const others = [...(measured ?? [])].filter(([name]) => !rows.some(([planned]) => planned === name));
  const all = [...rows, ...others.map(([name, value]): Row => [name, undefined, value])];
  return html`<section class="card"><table>
<thead><tr><th>figure</th><th class="n">planned</th>${run && html`<th class="n">measured</th>`}</tr></thead>
<tbody>
${all.map(
  ([name, planned, found]) =>
    html`<tr><td>${name}</td><td class="n">${planned || "–"}</td>${run && html`<td class="n">${found || "–"}</td>`}</tr>
`,
)}</tbody>
</table></section>
`;
}

function plannedRows({ totals, budget, execution, jobs }: Plan): (readonly [string, string])[] {
  const reads = jobs.reduce((sum, job) => sum + job.chunksRead, 0);
  const writes = jobs.reduce((sum, job) => sum + job.chunksWritten, 0);
  return [
    ["tasks", grouped(totals.tasks)],
    ["chunks and other keys read", `${grouped(reads)} chunks`],
    ["chunks and other keys written", `at most ${grouped(writes)} chunks`],
    ["bytes of items", formatBytes(totals.logicalBytes)],
    [
      "decoded bytes",
      `${formatBytes(totals.decodedBytes)}, each chunk ${totals.readAmplification.toFixed(2)} times`,
    ],
    ["peak memory of one task", formatBytes(totals.predictedPeak)],
    ["memory of all buffers", `at most ${formatBytes(budget.maxMemory)}, the budget`],
    [
      "requests in flight",
      `at most ${grouped(execution.concurrency)} per ${execution.isAdaptive ? "server, adapted to what it can take" : "store"}`,
    ],
  ];
}

function measuredRows({
  plan: { totals },
  report,
  samples,
  peakMemory,
  taskTimes,
}: RunRecord): Map<string, Content> {
  return new Map<string, Content>([
    ["tasks", `${grouped(report.tasks)}${timesText(taskTimes)}`],
    ["chunks and other keys read", grouped(report.chunksRead)],
    ["chunks and other keys written", grouped(report.chunksWritten)],
    ["bytes of items", totals.logicalBytes > 0 && rate(totals.logicalBytes, report.seconds)],
    ["memory of all buffers", formatBytes(report.peakBuffers)],
    ["memory of the process", formatBytes(peakMemory)],
    ["stored bytes read", formatBytes(report.bytesRead)],
    ["stored bytes written", `${formatBytes(report.bytesWritten)} in ${counted(report.keysWritten, "key")}`],
    ["requests in flight", requestsText(samples)],
    ["keys read back", report.keysVerified === undefined ? "not requested" : grouped(report.keysVerified)],
  ]);
}

/** The peak of requests in flight to servers, and the limit at the end. */
function requestsText(samples: readonly Sample[]): string | undefined {
  const asked = samples.flatMap(({ requests }) => requests ?? []);
  const last = asked.at(-1);
  if (last === undefined) return undefined;
  const most = Math.max(...asked.map(({ inFlight }) => inFlight));
  return `at most ${grouped(most)} to servers; ${grouped(Math.floor(last.allowed))} allowed at the end`;
}

function timesText(times: readonly number[]): string {
  if (times.length === 0) return "";
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) => formatDuration((sorted[Math.floor(part * (sorted.length - 1))] ?? 0) / 1000);
  return `, of ${at(0.5)} each (median; longest ${at(1)})`;
}

function charts({ samples, plan, report }: RunRecord): Html {
  if (samples.length < 2)
    return html`<p class="soft">The run was too short for a chart.</p>
`;
  const line = (of: (sample: Sample) => number) =>
    samples.map((sample): [number, number] => [sample.seconds, of(sample)]);
  const formatX = (seconds: number) =>
    report.seconds < 5 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
  return html`<section class="card"><h3>Memory</h3>
${lineChart({
  title: "memory over time",
  series: [
    { name: "buffers", colour: "a", points: line(({ expectedBytes }) => expectedBytes) },
    { name: "whole process", colour: "c", points: line(({ processBytes }) => processBytes) },
  ],
  limit: { name: "budget for buffers", value: plan.budget.maxMemory },
  formatX,
  formatY: formatBytes,
})}</section>
<section class="card"><h3>Throughput</h3>
${lineChart({
  title: "stored bytes per second over time",
  series: [
    { name: "read", colour: "a", points: rates(samples, ({ bytesRead }) => bytesRead) },
    { name: "written", colour: "b", points: rates(samples, ({ bytesWritten }) => bytesWritten) },
  ],
  formatX,
  formatY: (bytes) => `${formatBytes(bytes)}/s`,
})}</section>
${requestsChart(samples, formatX)}`;
}

/** A chart of the requests in flight to servers, and of their limit. */
function requestsChart(samples: readonly Sample[], formatX: (seconds: number) => string): Html | undefined {
  const asked = samples.flatMap(({ seconds, requests }) => (requests ? { seconds, ...requests } : []));
  if (asked.length < 2) return undefined;
  return html`<section class="card"><h3>Requests</h3>
${lineChart({
  title: "requests in flight over time",
  series: [
    { name: "allowed", colour: "b", points: asked.map(({ seconds, allowed }) => [seconds, allowed]) },
    { name: "in flight", colour: "a", points: asked.map(({ seconds, inFlight }) => [seconds, inFlight]) },
  ],
  formatX,
  formatY: (requests) => String(Math.round(requests)),
})}</section>
`;
}

/** Bytes per second between samples. Samples that follow too soon are skipped. */
function rates(samples: readonly Sample[], of: (sample: Sample) => number): [number, number][] {
  const points: [number, number][] = [];
  let [since, before] = [0, 0];
  for (const sample of samples) {
    const seconds = sample.seconds - since;
    if (seconds < SHORTEST_SPAN) continue;
    points.push([sample.seconds, (of(sample) - before) / seconds]);
    [since, before] = [sample.seconds, of(sample)];
  }
  return points;
}

function arrays({ plan }: PlanRecord): Html {
  const worked = plan.jobs.filter(({ tasks }) => tasks > 0);
  const rest = [...worked.slice(MAX_SECTIONS), ...plan.jobs.filter(({ tasks }) => tasks === 0)];
  return html`${worked.slice(0, MAX_SECTIONS).map(arraySection)}${rest.length > 0 && arrayTable(rest, MAX_ROWS)}`;
}

function rate(bytes: number, seconds: number): string {
  return `${formatBytes(bytes / Math.max(seconds, 0.001))}/s`;
}
