/** Bits of zstd as they are written: from the lowest upwards, whole bytes leaving eight at a time. */

let word: u64 = 0;
let held: u64 = 0;
let place: usize = 0;

export function startBits(at: usize): void {
  word = 0;
  held = 0;
  place = at;
}

/** Adds the low `count` bits of `value`, which has no others; up to 57 between two flushes. */
// @ts-ignore: decorator
@inline
export function addBits(value: u64, count: u64): void {
  word |= value << held;
  held += count;
}

// @ts-ignore: decorator
@inline
export function flushBits(): void {
  store<u64>(place, word);
  place += <usize>(held >> 3);
  word >>= held & 56;
  held &= 7;
}

/** Sets the mark at the end. Returns the place behind it. */
export function endBits(): usize {
  addBits(1, 1);
  flushBits();
  return place + <usize>(held > 0);
}
