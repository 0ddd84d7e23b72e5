import { chunksTouched } from "../../flows/plan/chunk-visits.ts";
import type { ArrayJob, GridSide } from "../../flows/plan/plan.ts";
import { strategyNamed } from "../../flows/plan/strategies/strategies.ts";
import { counted, formatShape, grouped } from "../../flows/text/numbers.ts";
import { codecsText } from "../../flows/text/plan.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { formatBytes } from "../../util/byte-size.ts";
import { product } from "../../util/shape.ts";
import { chunkDrawing, type DrawnGrid, drawnDimensions } from "./chunk-drawing.ts";
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
<dt>tasks</dt><dd>${grouped(job.tasks)}, each a window of ${formatShape(job.window)} target chunks, ${formatBytes(job.leaseBytes)} of memory</dd>
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
<p class="soft">The first chunk is filled. Lengths are proportional to the square root of sizes. If there are many chunks, one line stands for several.${
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
