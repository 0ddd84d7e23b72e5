import { matchLength } from "./copy";
import { hashOf } from "./zstd-places";

/**
 * Earlier positions of bytes: for each hash a row of sixteen, the newest first, starting at the head of the row. All
 * tags of a row are compared at once.
 */

const ROW_BITS: u32 = 16;
/** Within a long match only the first and the last positions are kept. */
const MAX_KEPT: usize = 384;
const FIRST_KEPT: usize = 96;
const LAST_KEPT: usize = 32;
/** Positions continue from frame to frame; above this the rows are reset. */
const MAX_PLACE: u32 = 0x4000_0000;
const TAGS = memory.data(16 << ROW_BITS, 16);
const PLACES = memory.data(64 << ROW_BITS, 16);
const HEADS = memory.data(1 << ROW_BITS, 16);
let nextPlace: u32 = 1;

/** Added to an address to get its position. */
let shift: u32 = 0;
/** All addresses of the frame below this are kept. */
let kept: usize = 0;
let prime: u64 = 0;
let right: u32 = 0;
let tries: u32 = 0;

/** Distance from `s` back to the match that `longestMatch` found. */
export let foundOffset: u32 = 0;

/** Assigns positions to a frame of `size` bytes at `source`; a search tries up to `most` matches of a row. */
export function startRows(source: usize, size: usize, bits: u32, framePrime: u64, most: u32): void {
  if (nextPlace > MAX_PLACE) {
    memory.fill(PLACES, 0, 64 << ROW_BITS);
    nextPlace = 1;
  }
  shift = nextPlace - <u32>source;
  nextPlace += <u32>size;
  kept = source;
  right = 32 - min(bits, ROW_BITS);
  prime = framePrime;
  tries = most;
}

// @ts-ignore: decorator
@inline
function keep(s: usize): void {
  const hash = hashOf(s, prime);
  const row = <usize>(hash >> right);
  const slot = (<usize>load<u8>(row, HEADS) - 1) & 15;
  store<u8>(row, <u8>slot, HEADS);
  store<u8>((row << 4) + slot, <u8>(hash >> 4), TAGS);
  store<u32>((row << 6) + (slot << 2), <u32>s + shift, PLACES);
}

/** Keeps all positions before `s`. */
function keepBefore(s: usize): void {
  let at = kept;
  if (s - at > MAX_KEPT) {
    for (const end = at + FIRST_KEPT; at < end; at++) keep(at);
    at = s - LAST_KEPT;
  }
  for (; at < s; at++) keep(at);
  kept = s;
}

/** Skips the positions before `s` that are not kept yet. */
export function skipTo(s: usize): void {
  kept = s;
}

/** Length of the longest match at `s` that starts at `lowest` or above, or 3 if none has at least four bytes. */
export function longestMatch(s: usize, sourceEnd: usize, lowest: usize): usize {
  keepBefore(s);
  const hash = hashOf(s, prime);
  const row = <usize>(hash >> right);
  const head = <u32>load<u8>(row, HEADS);
  const equal = i8x16.bitmask(i8x16.eq(v128.load(row << 4, TAGS), i8x16.splat(<i8>(hash >> 4))));
  const low = <u32>lowest + shift;
  let length: usize = 3;
  let left = tries;
  for (let found = ((equal | (equal << 16)) >> head) & 0xffff; found != 0 && left > 0; found &= found - 1) {
    const slot = (ctz(found) + head) & 15;
    const place = load<u32>((row << 6) + (<usize>slot << 2), PLACES);
    // The following entries are older still.
    if (place < low) break;
    left--;
    const match = <usize>(place - shift);
    if (load<u32>(match + length - 3) != load<u32>(s + length - 3)) continue;
    const size = matchLength(s, match, sourceEnd);
    if (size <= length) continue;
    length = size;
    foundOffset = <u32>(s - match);
    if (s + size == sourceEnd) break;
  }
  keep(s);
  kept = s + 1;
  return length;
}
