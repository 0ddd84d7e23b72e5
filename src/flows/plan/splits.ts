/**
 * How a run of `length` results is cut into boxes along one dimension: where source items, of which result `r` is number
 * `start + step * r`, reach a multiple of `size`. Boxes may be empty where `step` is more than `size`.
 */
export interface Cuts {
  readonly start: number;
  readonly step: number;
  readonly size: number;
  readonly length: number;
}

/** Results cut into boxes of `size` each. */
export function evenCuts(length: number, size: number): Cuts {
  return { start: 0, step: 1, size, length };
}

/** The first result of a box; `length` for the one after the last. */
export function firstOf({ start, step, size, length }: Cuts, box: number): number {
  return Math.max(0, Math.min(length, Math.ceil((box * size - start) / step)));
}

/** The box that holds a result. */
export function boxOf({ start, step, size }: Cuts, result: number): number {
  return Math.floor((start + step * result) / size);
}

export function countBoxes(cuts: Cuts): number {
  return cuts.length === 0 ? 0 : boxOf(cuts, cuts.length - 1) + 1;
}

/** The most results that a box holds. */
export function longestBox({ step, size, length }: Cuts): number {
  return Math.min(length, Math.ceil(size / step));
}
