/**
 * Earlier positions of bytes, by hash. The lower 24 bits of an entry are a position, the upper 8 a tag of the hash.
 * Comparing tags avoids most comparisons of bytes that do not match. Positions continue from frame to frame, so the
 * tables are rarely reset.
 */

const LONG_BITS: u32 = 17;
const SHORT_BITS: u32 = 16;
const MAX_PLACE: u32 = 0xff_ffff;
/** Shift that makes an index times four of the upper bits of a hash, which depend on the most bytes. */
const LONG_SHIFT: u32 = 32 - LONG_BITS - 2;
const SHORT_SHIFT: u32 = 32 - SHORT_BITS - 2;
const LONG_TABLE = memory.data(4 << LONG_BITS, 16);
const SHORT_TABLE = memory.data(4 << SHORT_BITS, 16);
/** The lowest position that is not assigned yet. */
let nextPlace: u32 = 1;

export const PRIME: u64 = 0x9e37_79b1_85eb_ca87;

/** Added to an address to get its position. */
export let shift: u32 = 0;
/** The first address that has a position. */
export let firstPlaced: usize = 0;

/** Starts assigning positions to a frame of `size` bytes at `source`. */
export function startPlaces(source: usize, size: usize): void {
  if (<u64>nextPlace + <u64>size > <u64>MAX_PLACE) forgetPlaces();
  shift = nextPlace - <u32>source;
  firstPlaced = source;
}

/** Assigns positions to a block. If they run out in a long frame, matches are found only from this block on. */
export function placeBlock(source: usize, sourceEnd: usize): void {
  if (<u32>sourceEnd + shift > MAX_PLACE) {
    forgetPlaces();
    shift = nextPlace - <u32>source;
    firstPlaced = source;
  }
  nextPlace = <u32>sourceEnd + shift;
}

function forgetPlaces(): void {
  memory.fill(LONG_TABLE, 0, 4 << LONG_BITS);
  memory.fill(SHORT_TABLE, 0, 4 << SHORT_BITS);
  nextPlace = 1;
}

/** Mask for an index of `bits` bits, with four bytes per entry. */
export function indexMask(bits: u32): u32 {
  return ((1 << bits) - 1) << 2;
}

/** A hash of the bytes at `s`. `prime` must be a prime times 2^8 for each of the eight bytes to leave out. */
// @ts-ignore: decorator
@inline
export function hashOf(s: usize, prime: u64): u32 {
  return <u32>((load<u64>(s) * prime) >> 32);
}

/** A hash of the bytes at `s` that `bytes` selects. Each of its bits depends on nearly all of them. */
// @ts-ignore: decorator
@inline
export function hashOfBytes(s: usize, bytes: u64): u32 {
  return <u32>(((load<u64>(s) & bytes) * PRIME) >> 32);
}

/** The tag, made of bits that the index does not use. */
// @ts-ignore: decorator
@inline
function tagOf(hash: u32): u32 {
  return hash << 24;
}

// @ts-ignore: decorator
@inline
export function findShort(hash: u32, mask: u32): u32 {
  return load<u32>((hash >> SHORT_SHIFT) & mask, SHORT_TABLE);
}

// @ts-ignore: decorator
@inline
export function findLong(hash: u32, mask: u32): u32 {
  return load<u32>((hash >> LONG_SHIFT) & mask, LONG_TABLE);
}

// @ts-ignore: decorator
@inline
export function keepShort(hash: u32, mask: u32, place: u32): void {
  store<u32>((hash >> SHORT_SHIFT) & mask, place | tagOf(hash), SHORT_TABLE);
}

// @ts-ignore: decorator
@inline
export function keepLong(hash: u32, mask: u32, place: u32): void {
  store<u32>((hash >> LONG_SHIFT) & mask, place | tagOf(hash), LONG_TABLE);
}

/** Distance of an entry above position `low`. At least 2^24 - `low` if the entry is lower or has another tag. */
// @ts-ignore: decorator
@inline
export function aboveLow(found: u32, hash: u32, low: u32): u32 {
  return (found ^ tagOf(hash)) - low;
}

// @ts-ignore: decorator
@inline
export function spanAbove(low: u32): u32 {
  return MAX_PLACE + 1 - low;
}
