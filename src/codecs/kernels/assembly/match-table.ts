/**
 * Where each hash was last seen, shared by the LZ encoders. Places are kept as `place + base`, and `base` rises with
 * each stream, so that the table is never reset: older entries lie before the stream's start.
 */

/** Streams below this are searched by four bytes in a table twice as fine. */
export const SHORT_STREAM: usize = 65_547;
const LONG_BITS = 12;
const SHORT_BITS = 13;
const SIZE = 4 << SHORT_BITS;
const LONG_PRIME: u64 = 889523592379;
const SHORT_PRIME: u32 = 2654435761;

const LAST_PLACES = memory.data(SIZE, 16);
let base: u32 = 1;

/** The base of a new stream of `size` bytes, whose places count from 0. */
export function raiseBase(size: u32): u32 {
  if (base > 0x7fff_ffff - size) {
    memory.fill(LAST_PLACES, 0, SIZE);
    base = 1;
  }
  const first = base;
  base += size;
  return first;
}

/** The table's slot for the five bytes at `at`, or four in a short stream. */
// @ts-ignore: decorator
@inline
export function slotAt(at: usize, isShort: bool): usize {
  const hash = isShort
    ? <usize>((load<u32>(at) * SHORT_PRIME) >> (32 - SHORT_BITS))
    : <usize>(((load<u64>(at) << 24) * LONG_PRIME) >> (64 - LONG_BITS));
  return LAST_PLACES + (hash << 2);
}
