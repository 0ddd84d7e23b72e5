/**
 * The division of `length` results along one dimension into boxes. Result `r` is source item `start + step * r`,
 * and a box ends where source items reach a multiple of `size`. Boxes may be empty if `step` is more than `size`.
 */
export interface Split {
  readonly start: number;
  readonly step: number;
  readonly size: number;
  readonly length: number;
}

/** Splits results into boxes of `size` each. */
export function evenSplit(length: number, size: number): Split {
  return { start: 0, step: 1, size, length };
}

/** Returns the first result of a box; `length` for the box after the last. */
export function firstOf({ start, step, size, length }: Split, box: number): number {
  return Math.max(0, Math.min(length, Math.ceil((box * size - start) / step)));
}

/** Returns the box that contains a result. */
export function boxOf({ start, step, size }: Split, result: number): number {
  return Math.floor((start + step * result) / size);
}

export function countBoxes(split: Split): number {
  return split.length === 0 ? 0 : boxOf(split, split.length - 1) + 1;
}

/** Returns the maximum number of results in a box. */
export function longestBox({ step, size, length }: Split): number {
  return Math.min(length, Math.ceil(size / step));
}
