import { formatShape } from "../../flows/text/numbers.ts";
import { type Html, html } from "./html.ts";

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
