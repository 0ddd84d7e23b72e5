/**
 * The last position of each hash, shared by the LZ encoders.
 *
 * Streams of any length: an entry is a position and, in the low byte, a tag of the hash. Comparing tags avoids most
 * comparisons of bytes that do not match. Positions are stored as `place + base`, modulo 2^24. `base` rises with each
 * stream, so older entries are before the start of the stream and the table is rarely reset.
 *
 * Short streams: an entry is a 16-bit position relative to the start of the stream. The table is no larger than the
 * stream and is reset for each one; its entries are used without further checks.
 */

const LONG_BITS = 12;
const TAG_BITS = 8;
const SIZE = 4 << LONG_BITS;
const LONG_PRIME: u64 = 889523592379;
const MAX_PLACE: u32 = 0xff_ffff;

const LAST_PLACES = memory.data(SIZE, 16);
let base: u32 = 1;

/** The base of a new stream of `size` bytes, whose positions start at 0. */
export function raiseBase(size: u32): u32 {
  if (base > MAX_PLACE || size > MAX_PLACE - base) {
    memory.fill(LAST_PLACES, 0, SIZE);
    base = 1;
  }
  const first = base;
  base += min(size, MAX_PLACE);
  return first;
}

/** A hash of the five bytes at `at`, with a tag in its low byte. */
// @ts-ignore: decorator
@inline
export function hashAt(at: usize): u32 {
  return <u32>(((load<u64>(at) << 24) * LONG_PRIME) >> (64 - LONG_BITS - TAG_BITS));
}

/** The entry of a hash: a position shifted by 8, and a tag. */
// @ts-ignore: decorator
@inline
export function lastPlace(hash: u32): u32 {
  return load<u32>(<usize>(hash >> TAG_BITS) << 2, LAST_PLACES);
}

// @ts-ignore: decorator
@inline
export function keepPlace(hash: u32, place: u32): void {
  store<u32>(<usize>(hash >> TAG_BITS) << 2, (place << TAG_BITS) | (hash & 255), LAST_PLACES);
}

// @ts-ignore: decorator
@inline
export function hasTag(entry: u32, hash: u32): bool {
  return ((entry ^ hash) & 255) == 0;
}

/** Distance from the position of the entry to `place`. */
// @ts-ignore: decorator
@inline
export function distanceTo(place: u32, entry: u32): u32 {
  return (place - (entry >> TAG_BITS)) & MAX_PLACE;
}

/** Shorter streams have 16-bit positions; their last match starts 12 bytes before the end. */
export const SHORT_STREAM: usize = 65_547;
const NEAR_BITS = 13;
const MIN_NEAR_BITS = 8;
const NEAR_PRIME: u32 = 2654435761;

const NEAR_PLACES = memory.data(2 << NEAR_BITS, 16);

/** Resets the table for a short stream of `size` bytes. Returns how many low bits of the product `nearSlot` drops. */
export function clearNearPlaces(size: u32): u32 {
  const bits = min(max(32 - clz(size), MIN_NEAR_BITS), NEAR_BITS);
  memory.fill(NEAR_PLACES, 0, <usize>2 << bits);
  return 32 - bits;
}

/** The slot of four bytes. */
// @ts-ignore: decorator
@inline
export function nearSlot(word: u32, unused: u32): usize {
  return <usize>((word * NEAR_PRIME) >> unused) << 1;
}

// @ts-ignore: decorator
@inline
export function lastNearPlace(slot: usize): usize {
  return <usize>load<u16>(slot, NEAR_PLACES);
}

// @ts-ignore: decorator
@inline
export function keepNearPlace(slot: usize, place: usize): void {
  store<u16>(slot, <u16>place, NEAR_PLACES);
}
