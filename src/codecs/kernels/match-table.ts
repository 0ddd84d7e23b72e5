/**
 * The last position of each hash of four bytes, shared by all LZ encoders. Positions are stored as `place + base`.
 * `base` rises with each stream, so older entries are before the start of the stream and the table is seldom reset.
 */

const HASH_BITS = 12;
export const lastPlaces = new Int32Array(1 << HASH_BITS);
let base = 1;

/** The base of a new stream of `size` bytes, whose positions start at 0. */
export function raiseBase(size: number): number {
  if (base + size > 0x7fff_ffff) {
    lastPlaces.fill(0);
    base = 1;
  }
  const first = base;
  base += size;
  return first;
}

/** The slot of four bytes, read as a word. */
export function slotOf(word: number): number {
  return Math.imul(word, 0x9e37_79b1) >>> (32 - HASH_BITS);
}

/** Number of bytes from `start` on, up to `end`, that equal the bytes `distance` before. */
export function matchLength(words: DataView, start: number, distance: number, end: number): number {
  let s = start;
  for (; s <= end - 4; s += 4) {
    const difference = words.getInt32(s, true) ^ words.getInt32(s - distance, true);
    if (difference !== 0) return s - start + ((31 - Math.clz32(difference & -difference)) >>> 3);
  }
  while (s < end && words.getUint8(s) === words.getUint8(s - distance)) s++;
  return s - start;
}
