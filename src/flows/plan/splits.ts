/**
 * How a run of `length` results is split into boxes along one dimension: where source items, of which result `r` is number
 * `start + step * r`, reach a multiple of `size`. Boxes may be empty where `step` is more than `size`.
 */
export interface Split {
  readonly start: number;
  readonly step: number;
  readonly size: number;
  readonly length: number;
}

/** Results split into boxes of `size` each. */
export function evenSplit(length: number, size: number): Split {
  return { start: 0, step: 1, size, length };
}

/** The first result of a box; `length` for the one after the last. */
export function firstOf({ start, step, size, length }: Split, box: number): number {
  return Math.max(0, Math.min(length, Math.ceil((box * size - start) / step)));
}

/** The box that holds a result. */
export function boxOf({ start, step, size }: Split, result: number): number {
  return Math.floor((start + step * result) / size);
}

export function countBoxes(split: Split): number {
  return split.length === 0 ? 0 : boxOf(split, split.length - 1) + 1;
}

/** The most results that a box holds. */
export function longestBox({ step, size, length }: Split): number {
  return Math.min(length, Math.ceil(size / step));
}
