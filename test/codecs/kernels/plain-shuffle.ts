import { wordsOf } from "../../../src/codecs/kernels/words.ts";

/**
 * Byte shuffle: byte 0 of every item, then byte 1 of every item, and so on; bytes past the last whole item stay at
 * the end. Four items are turned at a time, as words in registers.
 */

/**
 * Shuffles the `length` bytes of `source` at `start`, items of `itemSize` bytes, to `target` at `targetStart`.
 * The two ranges must not overlap.
 */
export const shuffle = turner({
  pairs: splitPairs,
  words: splitWords,
  bytes(source, target, start, plane, items, stride) {
    for (let i = 0, s = start; i < items; i++, s += stride) target[plane + i] = source[s] as number;
  },
  places: (start, targetStart) => [start, targetStart],
});

/** The inverse of `shuffle`. */
export const unshuffle = turner({
  pairs: joinPairs,
  words: joinWords,
  bytes(source, target, start, plane, items, stride) {
    for (let i = 0, t = start; i < items; i++, t += stride) target[t] = source[plane + i] as number;
  },
  places: (start, targetStart) => [targetStart, start],
});

/** Moves columns of items at `start`, `stride` bytes apart, to planes of `items` bytes at `plane`, or back. */
type Move<Buffer> = (
  source: Buffer,
  target: Buffer,
  start: number,
  plane: number,
  items: number,
  stride: number,
) => void;

interface Moves {
  /** Both columns of items of two bytes. */
  readonly pairs: Move<DataView>;
  /** Four columns. */
  readonly words: Move<DataView>;
  /** One column. */
  readonly bytes: Move<Uint8Array>;
  /** Where items and planes begin. */
  readonly places: (start: number, targetStart: number) => readonly [number, number];
}

function turner({ pairs, words, bytes, places }: Moves) {
  return (
    source: Uint8Array,
    start: number,
    target: Uint8Array,
    targetStart: number,
    length: number,
    itemSize: number,
  ): void => {
    const items = Math.floor(length / itemSize);
    if (items <= 1 || itemSize === 1) {
      target.set(source.subarray(start, start + length), targetStart);
      return;
    }
    const [from, to] = [wordsOf(source), wordsOf(target)];
    const [first, plane] = places(start, targetStart);
    let column = 0;
    if (itemSize === 2) {
      pairs(from, to, first, plane, items, itemSize);
      column = 2;
    }
    for (; column + 4 <= itemSize; column += 4) {
      words(from, to, first + column, plane + column * items, items, itemSize);
    }
    for (; column < itemSize; column++) {
      bytes(source, target, first + column, plane + column * items, items, itemSize);
    }
    for (let i = items * itemSize; i < length; i++) target[targetStart + i] = source[start + i] as number;
  };
}

/** One word of each item, at a stride, to four planes of `items` bytes. */
function splitWords(
  words: DataView,
  out: DataView,
  start: number,
  plane: number,
  items: number,
  stride: number,
): void {
  const plane1 = plane + items;
  const plane2 = plane1 + items;
  const plane3 = plane2 + items;
  let s = start;
  let i = 0;
  for (; i + 4 <= items; i += 4) {
    const a = words.getInt32(s, true);
    const b = words.getInt32(s + stride, true);
    const c = words.getInt32(s + 2 * stride, true);
    const d = words.getInt32(s + 3 * stride, true);
    s += 4 * stride;
    const even = (a & 0x00ff_00ff) | ((b & 0x00ff_00ff) << 8);
    const odd = ((a >>> 8) & 0x00ff_00ff) | (b & 0xff00_ff00);
    const even2 = (c & 0x00ff_00ff) | ((d & 0x00ff_00ff) << 8);
    const odd2 = ((c >>> 8) & 0x00ff_00ff) | (d & 0xff00_ff00);
    out.setInt32(plane + i, (even & 0xffff) | (even2 << 16), true);
    out.setInt32(plane1 + i, (odd & 0xffff) | (odd2 << 16), true);
    out.setInt32(plane2 + i, (even >>> 16) | (even2 & 0xffff_0000), true);
    out.setInt32(plane3 + i, (odd >>> 16) | (odd2 & 0xffff_0000), true);
  }
  for (; i < items; i++, s += stride) {
    const word = words.getInt32(s, true);
    out.setInt8(plane + i, word);
    out.setInt8(plane1 + i, word >>> 8);
    out.setInt8(plane2 + i, word >>> 16);
    out.setInt8(plane3 + i, word >>> 24);
  }
}

/** The inverse of `splitWords`. */
function joinWords(
  words: DataView,
  out: DataView,
  start: number,
  plane: number,
  items: number,
  stride: number,
): void {
  const plane1 = plane + items;
  const plane2 = plane1 + items;
  const plane3 = plane2 + items;
  let t = start;
  let i = 0;
  for (; i + 4 <= items; i += 4) {
    const a = words.getInt32(plane + i, true);
    const b = words.getInt32(plane1 + i, true);
    const c = words.getInt32(plane2 + i, true);
    const d = words.getInt32(plane3 + i, true);
    const even = (a & 0x00ff_00ff) | ((b & 0x00ff_00ff) << 8);
    const odd = ((a >>> 8) & 0x00ff_00ff) | (b & 0xff00_ff00);
    const even2 = (c & 0x00ff_00ff) | ((d & 0x00ff_00ff) << 8);
    const odd2 = ((c >>> 8) & 0x00ff_00ff) | (d & 0xff00_ff00);
    out.setInt32(t, (even & 0xffff) | (even2 << 16), true);
    out.setInt32(t + stride, (odd & 0xffff) | (odd2 << 16), true);
    out.setInt32(t + 2 * stride, (even >>> 16) | (even2 & 0xffff_0000), true);
    out.setInt32(t + 3 * stride, (odd >>> 16) | (odd2 & 0xffff_0000), true);
    t += 4 * stride;
  }
  for (; i < items; i++, t += stride) {
    const low = words.getUint8(plane + i) | (words.getUint8(plane1 + i) << 8);
    const high = words.getUint8(plane2 + i) | (words.getUint8(plane3 + i) << 8);
    out.setInt32(t, low | (high << 16), true);
  }
}

/** Items of two bytes to two planes, four items a step. */
function splitPairs(words: DataView, out: DataView, start: number, plane: number, items: number): void {
  const plane1 = plane + items;
  let i = 0;
  for (; i + 4 <= items; i += 4) {
    const a = words.getInt32(start + 2 * i, true);
    const b = words.getInt32(start + 2 * i + 4, true);
    const low = (a & 0xff) | ((a >>> 8) & 0xff00) | ((b & 0xff) << 16) | ((b & 0xff_0000) << 8);
    const high = ((a >>> 8) & 0xff) | ((a >>> 16) & 0xff00) | ((b & 0xff00) << 8) | (b & 0xff00_0000);
    out.setInt32(plane + i, low, true);
    out.setInt32(plane1 + i, high, true);
  }
  for (; i < items; i++) {
    const item = words.getUint16(start + 2 * i, true);
    out.setInt8(plane + i, item);
    out.setInt8(plane1 + i, item >>> 8);
  }
}

/** The inverse of `splitPairs`. */
function joinPairs(words: DataView, out: DataView, start: number, plane: number, items: number): void {
  const plane1 = plane + items;
  let i = 0;
  for (; i + 4 <= items; i += 4) {
    const low = words.getInt32(plane + i, true);
    const high = words.getInt32(plane1 + i, true);
    const a = (low & 0xff) | ((low & 0xff00) << 8) | ((high & 0xff) << 8) | ((high & 0xff00) << 16);
    const b =
      ((low >>> 16) & 0xff) | ((low >>> 8) & 0xff_0000) | ((high >>> 8) & 0xff00) | (high & 0xff00_0000);
    out.setInt32(start + 2 * i, a, true);
    out.setInt32(start + 2 * i + 4, b, true);
  }
  for (; i < items; i++) {
    out.setInt16(start + 2 * i, words.getUint8(plane + i) | (words.getUint8(plane1 + i) << 8), true);
  }
}
