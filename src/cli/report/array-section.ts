import { counted, formatShape, grouped } from "../../flows/text/format.ts";
import { codecsText } from "../../flows/text/plan.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { ArrayJob, GridSide } from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies.ts";
import { chunksTouched } from "../../plan/windows.ts";
import { product } from "../../util/shape.ts";
import { formatBytes } from "../../util/units.ts";
import { type Html, html } from "./html.ts";

/** A section about one array: strategy with reasons, codecs, tasks, and its chunks before and after. */
export function arraySection(job: ArrayJob): Html {
  const { path, dataType, source, strategy, notTaken, dimensionNames } = job;
  const visits = job.chunksRead / Math.max(1, chunksTouched(job));
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
/** Characters of a label that fit into this space. */
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

function px(length: number): string {
  return String(Math.round(length * 10) / 10);
}
