/**
 * Where bytes were seen before, by hashes of them. Entries are a place in the lower 24 bits and, in the upper 8, a tag of
 * the hash, which spares most looks at bytes that do not match. Places are counted on from frame to frame, so that the
 * tables are seldom reset.
 */

const LONG_BITS: u32 = 17;
const SHORT_BITS: u32 = 16;
const MAX_PLACE: u32 = 0xff_ffff;
/** What makes the upper bits of a hash, which depend on the most bytes, an index times four. */
const LONG_SHIFT: u32 = 32 - LONG_BITS - 2;
const SHORT_SHIFT: u32 = 32 - SHORT_BITS - 2;
const LONG_TABLE = memory.data(4 << LONG_BITS, 16);
const SHORT_TABLE = memory.data(4 << SHORT_BITS, 16);
/** The lowest place that is not given yet. */
let nextPlace: u32 = 1;

export const PRIME: u64 = 0x9e37_79b1_85eb_ca87;

/** What is added to an address to make it a place. */
export let shift: u32 = 0;
/** The first address that has a place. */
export let firstPlaced: usize = 0;

/** Begins to give places to a frame of `size` bytes at `source`. */
export function startPlaces(source: usize, size: usize): void {
  if (<u64>nextPlace + <u64>size > <u64>MAX_PLACE) forgetPlaces();
  shift = nextPlace - <u32>source;
  firstPlaced = source;
}

/** Gives places to a block. Where those of a long frame run out, matches are found from this block on only. */
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

/** What selects an index of `bits` bits, four bytes each. */
export function indexMask(bits: u32): u32 {
  return ((1 << bits) - 1) << 2;
}

/** A hash of the bytes at `s`: `prime` times 2 to the power of 8 for each of 8 bytes that is left out. */
// @ts-ignore: decorator
@inline
export function hashOf(s: usize, prime: u64): u32 {
  return <u32>((load<u64>(s) * prime) >> 32);
}

/** A hash of those bytes at `s` that `bytes` selects, each of whose bits depends on nearly all of them. */
// @ts-ignore: decorator
@inline
export function hashOfBytes(s: usize, bytes: u64): u32 {
  return <u32>(((load<u64>(s) & bytes) * PRIME) >> 32);
}

/** Of bits that the index does not have. */
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

/** How far above place `low` an entry lies; at least 2^24 - `low` where it is lower, or its tag another. */
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
