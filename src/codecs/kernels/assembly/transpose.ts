import { partEight } from "./shuffle";

/**
 * Transposes rows of items in square tiles; a side has as many items as fit in 16 bytes. Tiles of single bytes have
 * only eight columns. The last tiles of a row and of a column overlap the tiles before.
 */

/** Columns processed together, which is the number of target cache lines written alternately. */
const BLOCK: usize = 16;

/**
 * Item `column` of row `row` becomes item `row` of row `column`. Source rows are `sourceStep` bytes apart, target rows
 * `targetStep` bytes. Items have 1, 2, 4 or 8 bytes; rows and columns must fill at least one tile.
 */
export function transpose(
  source: usize,
  target: usize,
  rows: usize,
  columns: usize,
  itemSize: usize,
  sourceStep: usize,
  targetStep: usize,
): void {
  const height = <usize>16 / itemSize;
  const width = min(height, <usize>8);
  for (let block: usize = 0; block < columns; block += BLOCK) {
    const blockEnd = min(block + BLOCK, columns);
    for (let i: usize = 0; i < rows; i += height) {
      const row = min(i, rows - height);
      for (let j = block; j < blockEnd; j += width) {
        const column = min(j, columns - width);
        const s = source + row * sourceStep + column * itemSize;
        const t = target + column * targetStep + row * itemSize;
        if (itemSize == 4) turn4(s, sourceStep, t, targetStep);
        else if (itemSize == 8) turn8(s, sourceStep, t, targetStep);
        else if (itemSize == 2) turn2(s, sourceStep, t, targetStep);
        else turn1(s, sourceStep, t, targetStep);
      }
    }
  }
}

/** Transposes 16 rows of 8 single bytes. */
// @ts-ignore: decorator
@inline
function turn1(s: usize, step: usize, t: usize, targetStep: usize): void {
  partEight(
    pair(s, step),
    pair(s + 2 * step, step),
    pair(s + 4 * step, step),
    pair(s + 6 * step, step),
    pair(s + 8 * step, step),
    pair(s + 10 * step, step),
    pair(s + 12 * step, step),
    pair(s + 14 * step, step),
    t,
    targetStep,
  );
}

/** Eight bytes, and the eight bytes of the row below. */
// @ts-ignore: decorator
@inline
function pair(s: usize, step: usize): v128 {
  return v128.load64_lane(s + step, v128.load64_zero(s), 1);
}

// @ts-ignore: decorator
@inline
function zipLow<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 2) return v128.shuffle<u16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  if (sizeof<T>() == 4) return v128.shuffle<u32>(a, b, 0, 4, 1, 5);
  return v128.shuffle<u64>(a, b, 0, 2);
}

// @ts-ignore: decorator
@inline
function zipHigh<T>(a: v128, b: v128): v128 {
  if (sizeof<T>() == 2) return v128.shuffle<u16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  if (sizeof<T>() == 4) return v128.shuffle<u32>(a, b, 2, 6, 3, 7);
  return v128.shuffle<u64>(a, b, 1, 3);
}

/** Transposes eight rows of eight items of 2 bytes. */
// @ts-ignore: decorator
@inline
function turn2(s: usize, step: usize, t: usize, targetStep: usize): void {
  const a = v128.load(s);
  const b = v128.load(s + step);
  const c = v128.load(s + 2 * step);
  const d = v128.load(s + 3 * step);
  const e = v128.load(s + 4 * step);
  const f = v128.load(s + 5 * step);
  const g = v128.load(s + 6 * step);
  const h = v128.load(s + 7 * step);
  zipFour<u16>(zipLow<u16>(a, e), zipLow<u16>(b, f), zipLow<u16>(c, g), zipLow<u16>(d, h), t, targetStep);
  zipFour<u16>(
    zipHigh<u16>(a, e),
    zipHigh<u16>(b, f),
    zipHigh<u16>(c, g),
    zipHigh<u16>(d, h),
    t + 4 * targetStep,
    targetStep,
  );
}

/** Transposes four rows of four items of 4 bytes. */
// @ts-ignore: decorator
@inline
function turn4(s: usize, step: usize, t: usize, targetStep: usize): void {
  const a = v128.load(s);
  const b = v128.load(s + step);
  const c = v128.load(s + 2 * step);
  const d = v128.load(s + 3 * step);
  zipFour<u32>(a, b, c, d, t, targetStep);
}

/** Stores items of the rows `a`, `b`, `c` and `d` as four columns. */
// @ts-ignore: decorator
@inline
function zipFour<T>(a: v128, b: v128, c: v128, d: v128, t: usize, step: usize): void {
  const ac = zipLow<T>(a, c);
  const bd = zipLow<T>(b, d);
  const acHigh = zipHigh<T>(a, c);
  const bdHigh = zipHigh<T>(b, d);
  v128.store(t, zipLow<T>(ac, bd));
  v128.store(t + step, zipHigh<T>(ac, bd));
  v128.store(t + 2 * step, zipLow<T>(acHigh, bdHigh));
  v128.store(t + 3 * step, zipHigh<T>(acHigh, bdHigh));
}

/** Transposes two rows of two items of 8 bytes. */
// @ts-ignore: decorator
@inline
function turn8(s: usize, step: usize, t: usize, targetStep: usize): void {
  const a = v128.load(s);
  const b = v128.load(s + step);
  v128.store(t, zipLow<u64>(a, b));
  v128.store(t + targetStep, zipHigh<u64>(a, b));
}
