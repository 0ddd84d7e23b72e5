/** The two copies that all LZ formats are made of. Both work in words and stay within the stated bounds. */

/** From this length on, the engine's own memmove is faster than copying words. */
const LONG_COPY = 128;

/** Copies `length` bytes. May write up to three more bytes below `targetEnd`, but needs no room for them. */
export function copyLiterals(
  source: Uint8Array,
  words: DataView,
  start: number,
  target: Uint8Array,
  out: DataView,
  targetStart: number,
  length: number,
  targetEnd: number,
): void {
  if (length >= LONG_COPY) {
    target.set(source.subarray(start, start + length), targetStart);
    return;
  }
  let s = start;
  let t = targetStart;
  const end = t + length;
  const wordsEnd = Math.min(end, targetEnd - 3, t + source.length - s - 3);
  for (; t < wordsEnd; t += 4, s += 4) out.setInt32(t, words.getInt32(s, true), true);
  for (; t < end; t++, s++) target[t] = source[s] as number;
}

/**
 * Writes `length` bytes at `start` that repeat the bytes `distance` before; the ranges may overlap. May write up to
 * three more bytes below `targetEnd`, but needs no room for them.
 */
export function copyMatch(
  target: Uint8Array,
  out: DataView,
  start: number,
  distance: number,
  length: number,
  targetEnd: number,
): void {
  const end = start + length;
  let t = start;
  let back = distance;
  if (length >= LONG_COPY) {
    if (distance === 1) {
      target.fill(target[t - 1] as number, t, end);
      return;
    }
    if (distance >= length) {
      target.copyWithin(t, t - distance, end - distance);
      return;
    }
  }
  if (distance < 4) {
    // Copy four bytes one by one; after that, words repeat at a multiple of the distance.
    for (const wordsStart = Math.min(t + 4, end); t < wordsStart; t++)
      target[t] = target[t - distance] as number;
    back = distance === 3 ? 6 : 4;
  }
  const wordsEnd = Math.min(end, targetEnd - 3);
  for (; t < wordsEnd; t += 4) out.setInt32(t, out.getInt32(t - back, true), true);
  for (; t < end; t++) target[t] = target[t - back] as number;
}

/**
 * The last position of each hash of four bytes, shared by all LZ encoders. Positions are stored as `place + base`.
 * `base` rises with each stream, so older entries are before the start of the stream and the table is rarely reset.
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
