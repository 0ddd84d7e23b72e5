import type { BoxLayout } from "../codecs/kernels/copy-box.ts";
import type { ChunkRef, Region } from "./chunk.ts";

/** A box of an array with steps: item `o` of the result is item `start + step * o` of the array. Steps are >= 1. */
export interface Selection {
  readonly start: readonly number[];
  readonly step: readonly number[];
  /** Shape of the result. */
  readonly shape: readonly number[];
}

/** All of an array of `shape`. */
export function wholeSelection(shape: readonly number[]): Selection {
  return { start: shape.map(() => 0), step: shape.map(() => 1), shape };
}

/** The run of results `[first, first + count)` along one dimension that fall into source items `[from, from + length)`. */
export function selectedRun(
  selection: Selection,
  d: number,
  from: number,
  length: number,
): { first: number; count: number } {
  const start = selection.start[d] ?? 0;
  const step = selection.step[d] ?? 1;
  const first = Math.max(0, Math.ceil((from - start) / step));
  const end = Math.min(selection.shape[d] ?? 0, Math.ceil((from + length - start) / step));
  return { first, count: Math.max(0, end - first) };
}

/** The region of the result that falls into source region `source`, or undefined where none does. */
export function selectedRegion(selection: Selection, source: Region): Region | undefined {
  const start: number[] = [];
  const shape: number[] = [];
  for (let d = 0; d < selection.shape.length; d++) {
    const { first, count } = selectedRun(selection, d, source.start[d] ?? 0, source.shape[d] ?? 0);
    if (count === 0) return undefined;
    start.push(first);
    shape.push(count);
  }
  return { start, shape };
}

/** The selection of which `region` of the result is made. */
export function selectionWithin({ start, step }: Selection, region: Region): Selection {
  return {
    start: start.map((from, d) => from + (step[d] ?? 1) * (region.start[d] ?? 0)),
    step,
    shape: region.shape,
  };
}

/** The part that two regions share, or undefined. */
export function intersect(a: Region, b: Region): Region | undefined {
  const start: number[] = [];
  const shape: number[] = [];
  for (let d = 0; d < a.start.length; d++) {
    const from = Math.max(a.start[d] ?? 0, b.start[d] ?? 0);
    const to = Math.min((a.start[d] ?? 0) + (a.shape[d] ?? 0), (b.start[d] ?? 0) + (b.shape[d] ?? 0));
    if (to <= from) return undefined;
    start.push(from);
    shape.push(to - from);
  }
  return { start, shape };
}

/** How many items two regions share. */
export function countShared(a: Region, b: Region): number {
  let items = 1;
  for (let d = 0; d < a.start.length; d++) {
    const from = Math.max(a.start[d] ?? 0, b.start[d] ?? 0);
    const to = Math.min((a.start[d] ?? 0) + (a.shape[d] ?? 0), (b.start[d] ?? 0) + (b.shape[d] ?? 0));
    items *= Math.max(0, to - from);
  }
  return items;
}

/** The region that the chunk at `coords` holds of an array of `shape`. */
export function chunkRegion(
  coords: readonly number[],
  chunkShape: readonly number[],
  shape: readonly number[],
): Region {
  const start = coords.map((c, d) => c * (chunkShape[d] ?? 1));
  return {
    start,
    shape: start.map((from, d) => Math.max(0, Math.min(chunkShape[d] ?? 1, (shape[d] ?? 0) - from))),
  };
}

/** Where the items that become `region` of the target lie in a source piece with `strides`. */
export function boxInPiece(
  piece: ChunkRef,
  strides: readonly number[],
  region: Region,
  selection: Selection,
): BoxLayout {
  const stepped = new Array<number>(strides.length);
  let offset = 0;
  for (let d = 0; d < strides.length; d++) {
    const stride = strides[d] ?? 0;
    const step = selection.step[d] ?? 1;
    const item = (selection.start[d] ?? 0) + step * (region.start[d] ?? 0) - (piece.region.start[d] ?? 0);
    offset += item * stride;
    stepped[d] = stride * step;
  }
  return { offset, strides: stepped };
}
