import { type Html, html } from "./html.ts";

export interface Series {
  readonly name: string;
  /** Class of its colour. */
  readonly colour: "a" | "b" | "c";
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
  ) => html`<polyline class="line ${line.colour}" points="${line.points.map(([x, y]) => `${px(toX(x))},${px(toY(y))}`).join(" ")}"/>
${
  line.points.length < 40 &&
  line.points.map(
    ([x, y]) => html`<circle class="dot ${line.colour}" cx="${px(toX(x))}" cy="${px(toY(y))}" r="2.5"/>
`,
  )
}`,
)}</svg>
<figcaption class="legend">${series.map(({ name, colour }) => html`<span><i class="key ${colour}"></i>${name}</span>`)}${limit && html`<span><i class="key limit"></i>${limit.name}</span>`}</figcaption>
</figure>`;
}

function px(length: number): string {
  return String(Math.round(length * 10) / 10);
}

/** The next larger of 1, 2, 4, 5 or 8 times a power of ten. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}
