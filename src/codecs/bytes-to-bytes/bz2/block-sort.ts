import { sortSuffixes } from "./suffix-array.ts";

/**
 * The Burrows-Wheeler transform: the last column of the sorted rotations of `block`.
 *
 * The suffixes of the least rotation sort in the same order as its rotations, so these suffixes are sorted. This takes
 * linear time even for blocks that repeat one byte or a short pattern.
 *
 * @param order scratch space, as long as the block.
 * @param column filled with the result; as long as the block.
 * @returns the origin: the row that is the block itself.
 */
export function sortBlock(block: Uint8Array, order: Int32Array, column: Uint8Array): number {
  const size = block.length;
  const least = leastRotation(block);
  const text = new Uint8Array(size);
  text.set(block.subarray(least));
  text.set(block.subarray(0, least), size - least);
  sortSuffixes(text, 256, order);

  const start = least === 0 ? 0 : size - least;
  let origin = 0;
  for (let row = 0; row < size; row++) {
    const place = order[row] as number;
    if (place === start) origin = row;
    column[row] = text[place === 0 ? size - 1 : place - 1] as number;
  }
  return origin;
}

/** Finds the start of the least rotation. Two candidates race; the loser moves past the bytes it has compared. */
function leastRotation(block: Uint8Array): number {
  const size = block.length;
  let a = 0;
  let b = 1;
  let same = 0;
  while (a < size && b < size && same < size) {
    const p = a + same;
    const q = b + same;
    const left = block[p < size ? p : p - size] as number;
    const right = block[q < size ? q : q - size] as number;
    if (left === right) {
      same++;
      continue;
    }
    if (left > right) a += same + 1;
    else b += same + 1;
    if (a === b) b++;
    same = 0;
  }
  return Math.min(a, b);
}
