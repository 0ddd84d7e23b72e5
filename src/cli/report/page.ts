import { formatDuration, formatShape, locationText, takenRows } from "../../flows/text/format.ts";
import { codecsText } from "../../flows/text/plan.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { ArrayJob, GridSide, Plan } from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies.ts";
import { countSourceChunks } from "../../plan/windows.ts";
import { counted, grouped } from "../../util/names.ts";
import { product } from "../../util/shape.ts";
import { formatBytes } from "../../util/units.ts";
import { type Content, Html, html, lineChart, px, STYLE } from "./html.ts";
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
    locationText(plan.source.store, plan.source.path),
    locationText(plan.target.store, plan.target.path),
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
    { name: "buffers", color: "a", points: line(({ bufferedBytes }) => bufferedBytes) },
    { name: "whole process", color: "c", points: line(({ processBytes }) => processBytes) },
  ],
  limit: { name: "budget for buffers", value: plan.budget.maxMemory },
  formatX,
  formatY: formatBytes,
})}</section>
<section class="card"><h3>Throughput</h3>
${lineChart({
  title: "stored bytes per second over time",
  series: [
    { name: "read", color: "a", points: rates(samples, ({ bytesRead }) => bytesRead) },
    { name: "written", color: "b", points: rates(samples, ({ bytesWritten }) => bytesWritten) },
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
    { name: "allowed", color: "b", points: asked.map(({ seconds, allowed }) => [seconds, allowed]) },
    { name: "in flight", color: "a", points: asked.map(({ seconds, inFlight }) => [seconds, inFlight]) },
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

/** A section about one array: strategy with reasons, codecs, tasks, and its chunks before and after. */
export function arraySection(job: ArrayJob): Html {
  const { path, dataType, source, strategy, notTaken, dimensionNames } = job;
  const visits = job.chunksRead / Math.max(1, countSourceChunks(job));
  return html`<section class="card">
<h3>${path || "the array"} <span class="soft">${dataType} ${formatShape(source.shape, dimensionNames)}</span></h3>
${strategyNamed(strategy).changesGrid && layouts(job)}
<dl>
<dt>strategy</dt><dd><b>${strategy}</b>: ${strategyNamed(strategy).summary}</dd>
${notTaken.map(
  (other) => html`<dt>not ${other.strategy}</dt><dd>${other.reason}</dd>
`,
)}<dt>codecs</dt><dd>${change(codecsText(source), codecsText(job.target))}</dd>
<dt>tasks</dt><dd>${grouped(job.tasks)}, each a window of ${formatShape(job.window)} target chunks with ${formatBytes(job.leaseBytes)} of memory</dd>
<dt>reads</dt><dd>${counted(job.chunksRead, "chunk")}, each source chunk ${visits.toFixed(2)} times</dd>
<dt>writes</dt><dd>at most ${counted(job.chunksWritten, "chunk")}</dd>
</dl>
</section>
`;
}

/** A table with a row for each array: those copied without tasks, and those for which a section would be too much. */
export function arrayTable(jobs: readonly ArrayJob[], most: number): Html {
  const rows = jobs.slice(0, most).map(
    ({
      path,
      dataType,
      source,
      strategy,
      chunksWritten,
      dimensionNames,
    }) => html`<tr><td>${path || "the array"}</td><td>${dataType} ${formatShape(source.shape, dimensionNames)}</td><td>${strategy}</td><td class="n">${grouped(chunksWritten)}</td></tr>
`,
  );
  return html`<section class="card"><table>
<thead><tr><th>array</th><th>type and shape</th><th>strategy</th><th class="n">chunks</th></tr></thead>
<tbody>
${rows}</tbody>
</table>${jobs.length > most && html`<p class="soft">and ${grouped(jobs.length - most)} more</p>`}</section>
`;
}

function layouts(job: ArrayJob): Html | false {
  const names = job.dimensionNames ?? job.source.shape.map(() => null);
  const before: DrawnGrid = { ...job.source, names };
  const after: DrawnGrid = { ...job.target, names };
  const dimensions = drawnDimensions(before, after);
  if (dimensions.length === 0) return false;
  return html`<div class="layouts">
${layout("before", job.source, chunkDrawing(before, dimensions))}${layout("after", job.target, chunkDrawing(after, dimensions))}</div>
<p class="soft">The first chunk is filled in. Lengths are proportional to the square root of sizes. With many chunks, one line stands for several.${
    dimensions.length < job.source.shape.length &&
    ` ${dimensions.length} of ${job.source.shape.length} dimensions are shown.`
  }</p>`;
}

function layout(when: string, { chunkShape, shape, decodedSize }: GridSide, drawing: Html): Html {
  const chunks = product(gridShape(shape, chunkShape));
  return html`<figure>${drawing}
<figcaption>${when}: ${counted(chunks, "chunk")} of ${formatShape(chunkShape)}, ${formatBytes(decodedSize)} each</figcaption></figure>
`;
}

function change(from: string, to: string): string {
  return from === to ? from : `${from} → ${to}`;
}

/** An array and its grid of chunks. */
export interface DrawnGrid {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  readonly names: readonly (string | null)[];
}

type Point = readonly [x: number, y: number];

const LONGEST = 170;
const SHORTEST = 34;
const MAX_LINES = 32;
/** Space on each side of the drawing for labels. */
const LABEL_ROOM = 132;
/** Number of characters of a label that fit into `LABEL_ROOM`. */
const LABEL_LENGTH = 14;
/** Direction of the axis into the picture, per unit of its length. */
const DEPTH: Point = [0.62, -0.42];

/**
 * Draws the chunks of an array as a strip, a rectangle or a box along at most three `dimensions`. The first chunk is
 * filled. Lengths are proportional to the square root of sizes, so that short dimensions remain visible.
 */
export function chunkDrawing(grid: DrawnGrid, dimensions: readonly number[]): Html {
  const axes = dimensions.map((d) => axisOf(grid, d, dimensions));
  const [depth, height, width] = [axes.at(-3), axes.at(-2), axes.at(-1)];
  const across: Point = [width?.length ?? SHORTEST, 0];
  const down: Point = [0, height?.length ?? SHORTEST];
  const back: Point = depth ? [DEPTH[0] * depth.length, DEPTH[1] * depth.length] : [0, 0];
  const corner: Point = [depth ? LABEL_ROOM : 8, 18 - back[1]];
  const size: Point = [corner[0] + across[0] + back[0] + LABEL_ROOM, corner[1] + down[1] + 24];
  const first: Point[] = [scaled(across, width), scaled(down, height), scaled(back, depth)];
  const [chunkAcross = [0, 0], chunkDown = [0, 0], chunkBack = [0, 0]] = first;
  const isWhole = width !== undefined && width.chunk >= width.size;
  return html`<svg class="grid" viewBox="0 0 ${px(size[0])} ${px(size[1])}" width="${px(size[0])}" role="img" aria-label="chunks of ${formatShape(grid.chunkShape)}">
${face(corner, across, down, width, height)}${depth && face(corner, across, back, width, depth)}${depth && face(plus(corner, across), back, down, depth, height)}
${area("chunk", corner, chunkAcross, chunkDown)}${depth && area("chunk top", corner, chunkAcross, chunkBack)}${depth && isWhole && area("chunk side", plus(corner, across), chunkBack, chunkDown)}
${label(plus(corner, [across[0] / 2, down[1] + 16]), "middle", width)}${label(plus(corner, [across[0] + back[0] + 6, back[1] + down[1] / 2]), "", height)}${label(plus(corner, [back[0] / 2 - 6, back[1] / 2 - 4]), "end", depth)}
</svg>`;
}

/** Chooses the dimensions to draw: those whose chunks change, then the longest, at most three, in order. */
export function drawnDimensions(before: DrawnGrid, after: DrawnGrid): number[] {
  const { shape, chunkShape } = before;
  const changes = (d: number) => Number(chunkShape[d] !== after.chunkShape[d]);
  return shape
    .map((_, d) => d)
    .sort((a, b) => changes(b) - changes(a) || (shape[b] ?? 0) - (shape[a] ?? 0))
    .slice(0, 3)
    .sort((a, b) => a - b);
}

interface Axis {
  readonly name: string;
  readonly size: number;
  readonly chunk: number;
  /** Length in the drawing. */
  readonly length: number;
}

function axisOf({ shape, chunkShape, names }: DrawnGrid, d: number, dimensions: readonly number[]): Axis {
  const root = (dimension: number) => Math.sqrt(Math.max(1, shape[dimension] ?? 1));
  const longest = Math.max(...dimensions.map(root));
  const size = Math.max(1, shape[d] ?? 1);
  return {
    name: [shortened(names[d] ?? ""), shape[d]].filter((part) => part !== "").join(" "),
    size,
    chunk: Math.min(size, chunkShape[d] ?? 1),
    length: Math.max(SHORTEST, (LONGEST * root(d)) / longest),
  };
}

function shortened(name: string): string {
  return name.length > LABEL_LENGTH ? `${name.slice(0, LABEL_LENGTH - 1)}…` : name;
}

/** A parallelogram with a line for each chunk, or for every few chunks if there are many. */
function face(corner: Point, u: Point, v: Point, alongU: Axis | undefined, alongV: Axis | undefined): Html {
  return html`${area("face", corner, u, v)}${cuts(alongU).map((part) => line(plus(corner, times(u, part)), v))}${cuts(alongV).map((part) => line(plus(corner, times(v, part)), u))}`;
}

/** Positions of chunk edges along an axis, as fractions of its length. */
function cuts(axis: Axis | undefined): number[] {
  if (axis === undefined) return [];
  const count = Math.ceil(axis.size / axis.chunk);
  const every = Math.ceil(count / MAX_LINES);
  const parts: number[] = [];
  for (let i = every; i < count; i += every) parts.push((i * axis.chunk) / axis.size);
  return parts;
}

function area(kind: string, corner: Point, u: Point, v: Point): Html {
  const points = [corner, plus(corner, u), plus(plus(corner, u), v), plus(corner, v)];
  return html`<polygon class="${kind}" points="${points.map(([x, y]) => `${px(x)},${px(y)}`).join(" ")}"/>`;
}

function line([x, y]: Point, [dx, dy]: Point): Html {
  return html`<line class="cut" x1="${px(x)}" y1="${px(y)}" x2="${px(x + dx)}" y2="${px(y + dy)}"/>`;
}

function label([x, y]: Point, anchor: string, axis: Axis | undefined): Html | undefined {
  return axis && html`<text class="axis ${anchor}" x="${px(x)}" y="${px(y)}">${axis.name}</text>`;
}

function scaled(edge: Point, axis: Axis | undefined): Point {
  return axis ? times(edge, axis.chunk / axis.size) : edge;
}

function plus([x, y]: Point, [dx, dy]: Point): Point {
  return [x + dx, y + dy];
}

function times([x, y]: Point, factor: number): Point {
  return [x * factor, y * factor];
}
