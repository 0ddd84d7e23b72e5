import { redact } from "../../util/redact.ts";

/** Markup that is safe in a page: everything except this program's own templates is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = Html | string | number | false | null | undefined | readonly Content[];

/** A template of markup. Inserted content is escaped, unless it is markup itself. */
export function html(template: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(String.raw({ raw: template }, ...contents.map(markup)));
}

function markup(content: Content): string {
  if (content instanceof Html) return content.text;
  if (content === undefined || content === null || content === false) return "";
  if (Array.isArray(content)) return content.map(markup).join("");
  return escapeHtml(String(content));
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Makes untrusted text safe: escapes it, removes credentials from URLs, and replaces characters that HTML forbids or
 * that change the direction of writing.
 */
function escapeHtml(text: string): string {
  return redact(text)
    .replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "")
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
      /[\n\t]/.test(character) ? character : "\ufffd",
    );
}

/** The style sheet of a report: light or dark as the reader's system, and plain in print. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf7; --card: #fff; --ink: #1d2327; --soft: #66707a; --rule: #e2e0d9;
  --a: #1f6f8b; --b: #c2681c; --c: #7a8288; --limit: #b3261e; --chunk: #1f6f8b; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181b; --card: #1c2226; --ink: #e6e9eb; --soft: #98a3ab;
  --rule: #323a40; --a: #63b7d1; --b: #eaa062; --c: #8d979e; --limit: #ff8a80; --chunk: #63b7d1; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .8rem; }
h3 { font-size: 1rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
p { margin: .2rem 0; }
.soft, .legend, figcaption { color: var(--soft); }
code { font: .88em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: .75rem; margin: 1.5rem 0 0; }
.figure, section.card { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem; }
.figure { padding: .8rem 1rem; }
.figure b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
section.card { padding: 1.1rem 1.25rem; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--rule);
  overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); font-size: .85rem; }
td.n, th.n { text-align: right; white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .7rem 0 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 0; } svg { max-width: 100%; height: auto; display: block; }
.layouts { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-end; margin: 1rem 0 .4rem; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .85rem; margin-top: .4rem; }
.key { display: inline-block; width: 1.1rem; height: 0; border-top: 3px solid var(--c); margin-right: .4rem; vertical-align: middle; }
.key.a { border-color: var(--a); } .key.b { border-color: var(--b); } .key.limit { border-color: var(--limit); border-top-style: dashed; }
svg text { fill: var(--soft); font: 12px system-ui, sans-serif; } .end { text-anchor: end; } .middle { text-anchor: middle; }
.rule { stroke: var(--rule); } .line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.line.a { stroke: var(--a); } .line.b { stroke: var(--b); } .dot { fill: var(--c); } .dot.a { fill: var(--a); } .dot.b { fill: var(--b); }
line.limit { stroke: var(--limit); stroke-width: 1.5; stroke-dasharray: 6 4; }
.face { fill: var(--card); stroke: var(--ink); stroke-width: 1.2; stroke-linejoin: round; } .cut { stroke: var(--soft); stroke-width: .6; }
.chunk { fill: var(--chunk); fill-opacity: .8; stroke: var(--chunk); stroke-linejoin: round; } .chunk.top { fill-opacity: .55; } .chunk.side { fill-opacity: .4; }
@media print { :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --rule: #bbb; --a: #1f6f8b; --b: #c2681c; --chunk: #1f6f8b; }
  main { max-width: none; padding: 0; } section.card, .figure, figure, tr { break-inside: avoid; } body { font-size: 11pt; }
  .chunk, .line, .key { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;

export interface Series {
  readonly name: string;
  /** Class of its color. */
  readonly color: "a" | "b" | "c";
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface LineChart {
  readonly title: string;
  readonly series: readonly Series[];
  /** A limit, drawn as a horizontal line. */
  readonly limit?: { readonly name: string; readonly value: number };
  readonly formatX: (x: number) => string;
  readonly formatY: (y: number) => string;
}

const WIDTH = 720;
const HEIGHT = 240;
const MARGIN = { left: 74, right: 16, top: 16, bottom: 30 };
const LINES = 4;

/** Draws lines over time, with axes and a legend. */
export function lineChart({ title, series, limit, formatX, formatY }: LineChart): Html {
  const points = series.flatMap((line) => line.points);
  const right = Math.max(1e-9, ...points.map(([x]) => x));
  const top = niceCeiling(Math.max(1, limit?.value ?? 0, ...points.map(([, y]) => y)));
  const toX = (x: number) => MARGIN.left + (x / right) * (WIDTH - MARGIN.left - MARGIN.right);
  const toY = (y: number) => HEIGHT - MARGIN.bottom - (y / top) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const levels = Array.from({ length: LINES + 1 }, (_, i) => (top * i) / LINES);
  const times = Array.from({ length: LINES + 1 }, (_, i) => (right * i) / LINES);
  return html`<figure>
<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">
${levels.map(
  (
    y,
  ) => html`<line class="rule" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${px(toY(y))}" y2="${px(toY(y))}"/>
<text class="axis end" x="${MARGIN.left - 8}" y="${px(toY(y) + 4)}">${formatY(y)}</text>
`,
)}${times.map(
  (
    x,
    i,
  ) => html`<text class="axis ${i === 0 ? "" : i === LINES ? "end" : "middle"}" x="${px(toX(x))}" y="${HEIGHT - 8}">${formatX(x)}</text>
`,
)}${
  limit &&
  html`<line class="limit" x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${px(toY(limit.value))}" y2="${px(toY(limit.value))}"/>
`
}${series.map(
  (
    line,
  ) => html`<polyline class="line ${line.color}" points="${line.points.map(([x, y]) => `${px(toX(x))},${px(toY(y))}`).join(" ")}"/>
${
  line.points.length < 40 &&
  line.points.map(
    ([x, y]) => html`<circle class="dot ${line.color}" cx="${px(toX(x))}" cy="${px(toY(y))}" r="2.5"/>
`,
  )
}`,
)}</svg>
<figcaption class="legend">${series.map(({ name, color }) => html`<span><i class="key ${color}"></i>${name}</span>`)}${limit && html`<span><i class="key limit"></i>${limit.name}</span>`}</figcaption>
</figure>`;
}

export function px(length: number): string {
  return String(Math.round(length * 10) / 10);
}

/** The next larger of 1, 2, 4, 5 or 8 times a power of ten. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}
