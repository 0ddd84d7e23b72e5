/** The bits of a zstd stream being written, from the lowest up. Each flush writes all whole bytes. */

let word: u64 = 0;
let held: u64 = 0;
let place: usize = 0;

export function startBits(at: usize): void {
  word = 0;
  held = 0;
  place = at;
}

/** Adds the low `count` bits of `value`, whose other bits must be 0. At most 57 bits between two flushes. */
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

/** Writes the end mark. Returns the end of the stream. */
export function endBits(): usize {
  addBits(1, 1);
  flushBits();
  return place + <usize>(held > 0);
}
