/**
 * Reads the bits of zstd streams, from the last byte to the first. `left` is the number of bits still to read. In the
 * last byte, a 1 above the highest bit marks the end.
 */

/** Number of bits in the stream at `start`; 0 if it has no end mark. */
export function bitCount(start: usize, end: usize): i32 {
  if (end <= start) return 0;
  const last = <u32>load<u8>(end - 1);
  if (last == 0) return 0;
  return (<i32>(end - start - 1) << 3) + 31 - <i32>clz(last);
}

/** The next 56 bits or more of the stream at `start`, from the highest bit of the word down. */
// @ts-ignore: decorator
@inline
export function nextBits(start: usize, left: i32): u64 {
  return load<u64>(start + (left >> 3) - 7) << <u64>(8 - (left & 7));
}

/** The highest `count` bits (0 to 63) of a word. */
// @ts-ignore: decorator
@inline
export function top(word: u64, count: u64): u64 {
  return (word >> 1) >> (63 - count);
}

/** Index of the highest bit that is set; `value` is not 0. */
// @ts-ignore: decorator
@inline
export function highBit(value: u32): u32 {
  return 31 - clz(value);
}
