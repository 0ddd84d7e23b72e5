/**
 * Byte shuffle: byte 0 of every item, then byte 1 of every item, and so on. Items of 2, 4, 8 and 16 bytes are handled
 * 16 at a time, in rounds that interleave pairs of vectors. Interleaving is a single instruction; taking every second
 * byte is not.
 */

// @ts-ignore: decorator
@inline
function zipLow(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

// @ts-ignore: decorator
@inline
function zipHigh(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

/** Shuffles `items` items of `itemSize` bytes to planes that are `step` bytes apart, the first at `target`. */
export function shuffle(source: usize, target: usize, items: usize, itemSize: usize, step: usize): void {
  const wide = isWide(itemSize) ? items & ~15 : 0;
  if (itemSize == 2) shuffle2(source, target, wide, step);
  else if (itemSize == 4) shuffle4(source, target, wide, step);
  else if (itemSize == 8) shuffle8(source, target, wide, step);
  else if (itemSize == 16) shuffle16(source, target, wide, step);
  for (let column: usize = 0; column < itemSize; column++) {
    const plane = target + column * step;
    let s = source + wide * itemSize + column;
    for (let i = wide; i < items; i++, s += itemSize) store<u8>(plane + i, load<u8>(s));
  }
}

/** The inverse of `shuffle`: from planes that are `step` bytes apart to items. */
export function unshuffle(source: usize, target: usize, items: usize, itemSize: usize, step: usize): void {
  const wide = isWide(itemSize) ? items & ~15 : 0;
  if (itemSize == 2) unshuffle2(source, target, wide, step);
  else if (itemSize == 4) unshuffle4(source, target, wide, step);
  else if (itemSize == 8) unshuffle8(source, target, wide, step);
  else if (itemSize == 16) unshuffle16(source, target, wide, step);
  for (let column: usize = 0; column < itemSize; column++) {
    const plane = source + column * step;
    let t = target + wide * itemSize + column;
    for (let i = wide; i < items; i++, t += itemSize) store<u8>(t, load<u8>(plane + i));
  }
}

// @ts-ignore: decorator
@inline
function isWide(itemSize: usize): bool {
  return itemSize == 2 || itemSize == 4 || itemSize == 8 || itemSize == 16;
}

function shuffle2(s: usize, t: usize, wide: usize, step: usize): void {
  const low = i16x8.splat(255);
  for (const end = t + wide; t < end; t += 16, s += 32) {
    const a = v128.load(s);
    const b = v128.load(s, 16);
    v128.store(t, i8x16.narrow_i16x8_u(v128.and(a, low), v128.and(b, low)));
    v128.store(t + step, i8x16.narrow_i16x8_u(i16x8.shr_u(a, 8), i16x8.shr_u(b, 8)));
  }
}

function unshuffle2(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = s + wide; s < end; s += 16, t += 32) {
    const a = v128.load(s);
    const b = v128.load(s + step);
    v128.store(t, zipLow(a, b));
    v128.store(t, zipHigh(a, b), 16);
  }
}

function shuffle4(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = t + wide; t < end; t += 16, s += 64) {
    const a = v128.load(s);
    const b = v128.load(s, 16);
    const c = v128.load(s, 32);
    const d = v128.load(s, 48);
    const ac = zipLow(a, c);
    const bd = zipLow(b, d);
    const acHigh = zipHigh(a, c);
    const bdHigh = zipHigh(b, d);
    const first = zipLow(ac, bd);
    const second = zipHigh(ac, bd);
    const third = zipLow(acHigh, bdHigh);
    const fourth = zipHigh(acHigh, bdHigh);
    const even = zipLow(first, third);
    const odd = zipLow(second, fourth);
    const evenHigh = zipHigh(first, third);
    const oddHigh = zipHigh(second, fourth);
    v128.store(t, zipLow(even, odd));
    v128.store(t + step, zipHigh(even, odd));
    v128.store(t + 2 * step, zipLow(evenHigh, oddHigh));
    v128.store(t + 3 * step, zipHigh(evenHigh, oddHigh));
  }
}

function unshuffle4(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = s + wide; s < end; s += 16, t += 64) {
    const a = v128.load(s);
    const b = v128.load(s + step);
    const c = v128.load(s + 2 * step);
    const d = v128.load(s + 3 * step);
    const ac = zipLow(a, c);
    const bd = zipLow(b, d);
    const acHigh = zipHigh(a, c);
    const bdHigh = zipHigh(b, d);
    v128.store(t, zipLow(ac, bd));
    v128.store(t, zipHigh(ac, bd), 16);
    v128.store(t, zipLow(acHigh, bdHigh), 32);
    v128.store(t, zipHigh(acHigh, bdHigh), 48);
  }
}

function shuffle8(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = t + wide; t < end; t += 16, s += 128) shuffleEight(s, t, step);
}

function unshuffle8(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = s + wide; s < end; s += 16, t += 128) unshuffleEight(s, step, t);
}

/** Shuffles 16 items of 8 bytes to 8 planes that are `step` bytes apart. */
// @ts-ignore: decorator
@inline
function shuffleEight(s: usize, t: usize, step: usize): void {
  partEight(
    v128.load(s),
    v128.load(s, 16),
    v128.load(s, 32),
    v128.load(s, 48),
    v128.load(s, 64),
    v128.load(s, 80),
    v128.load(s, 96),
    v128.load(s, 112),
    t,
    step,
  );
}

// @ts-ignore: decorator
@inline
export function partEight(
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  g: v128,
  h: v128,
  t: usize,
  step: usize,
): void {
  // Three rounds for each half; the fourth joins the halves.
  const ae = zipLow(a, e);
  const bf = zipLow(b, f);
  const cg = zipLow(c, g);
  const dh = zipLow(d, h);
  const aceg = zipLow(ae, cg);
  const bdfh = zipLow(bf, dh);
  const even0 = zipLow(aceg, bdfh);
  const even2 = zipHigh(aceg, bdfh);
  const acegHigh = zipHigh(ae, cg);
  const bdfhHigh = zipHigh(bf, dh);
  const even4 = zipLow(acegHigh, bdfhHigh);
  const even6 = zipHigh(acegHigh, bdfhHigh);
  const aeHigh = zipHigh(a, e);
  const bfHigh = zipHigh(b, f);
  const cgHigh = zipHigh(c, g);
  const dhHigh = zipHigh(d, h);
  const lowOdd = zipLow(aeHigh, cgHigh);
  const highOdd = zipLow(bfHigh, dhHigh);
  const odd0 = zipLow(lowOdd, highOdd);
  const odd2 = zipHigh(lowOdd, highOdd);
  v128.store(t, zipLow(even0, odd0));
  v128.store(t + step, zipHigh(even0, odd0));
  v128.store(t + 2 * step, zipLow(even2, odd2));
  v128.store(t + 3 * step, zipHigh(even2, odd2));
  const lowLast = zipHigh(aeHigh, cgHigh);
  const highLast = zipHigh(bfHigh, dhHigh);
  const odd4 = zipLow(lowLast, highLast);
  const odd6 = zipHigh(lowLast, highLast);
  v128.store(t + 4 * step, zipLow(even4, odd4));
  v128.store(t + 5 * step, zipHigh(even4, odd4));
  v128.store(t + 6 * step, zipLow(even6, odd6));
  v128.store(t + 7 * step, zipHigh(even6, odd6));
}

/** The inverse of `shuffleEight`. */
// @ts-ignore: decorator
@inline
function unshuffleEight(s: usize, step: usize, t: usize): void {
  const a = v128.load(s);
  const b = v128.load(s + step);
  const c = v128.load(s + 2 * step);
  const d = v128.load(s + 3 * step);
  const e = v128.load(s + 4 * step);
  const f = v128.load(s + 5 * step);
  const g = v128.load(s + 6 * step);
  const h = v128.load(s + 7 * step);
  joinHalf(zipLow(a, e), zipLow(b, f), zipLow(c, g), zipLow(d, h), t);
  joinHalf(zipHigh(a, e), zipHigh(b, f), zipHigh(c, g), zipHigh(d, h), t + 64);
}

// @ts-ignore: decorator
@inline
function joinHalf(ae: v128, bf: v128, cg: v128, dh: v128, t: usize): void {
  const aceg = zipLow(ae, cg);
  const bdfh = zipLow(bf, dh);
  const acegHigh = zipHigh(ae, cg);
  const bdfhHigh = zipHigh(bf, dh);
  v128.store(t, zipLow(aceg, bdfh));
  v128.store(t, zipHigh(aceg, bdfh), 16);
  v128.store(t, zipLow(acegHigh, bdfhHigh), 32);
  v128.store(t, zipHigh(acegHigh, bdfhHigh), 48);
}

/** Items of 16 bytes: handles each half like an item of 8 bytes, with larger steps. */
function shuffle16(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = t + wide; t < end; t += 16, s += 256) {
    for (let half: usize = 0; half < 16; half += 8) {
      const from = s + half;
      partEight(
        pair(from),
        pair(from + 32),
        pair(from + 64),
        pair(from + 96),
        pair(from + 128),
        pair(from + 160),
        pair(from + 192),
        pair(from + 224),
        t + half * step,
        step,
      );
    }
  }
}

/** Eight bytes, and the eight bytes 16 after them. */
// @ts-ignore: decorator
@inline
function pair(from: usize): v128 {
  return v128.load64_lane(from, v128.load64_zero(from), 1, 16);
}

const HALVES = memory.data(256, 16);

function unshuffle16(s: usize, t: usize, wide: usize, step: usize): void {
  for (const end = s + wide; s < end; s += 16, t += 256) {
    unshuffleEight(s, step, HALVES);
    unshuffleEight(s + 8 * step, step, HALVES + 128);
    for (let i: usize = 0; i < 128; i += 16) {
      const low = v128.load(HALVES + i);
      const high = v128.load(HALVES + i, 128);
      v128.store(t + 2 * i, v128.shuffle<i64>(low, high, 0, 2));
      v128.store(t + 2 * i, v128.shuffle<i64>(low, high, 1, 3), 16);
    }
  }
}
