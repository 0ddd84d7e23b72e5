import { copyLiterals, matchLength } from "./copy";

/**
 * The search for matches, as two strategies: `fast` looks at one hash of several bytes, `double` at one of eight first
 * and then at a short one. Sequences and the literals between them are gathered here.
 */

/** Sequences as literal length, match length, and offset + 3 or 1 for the offset before: u32 each, and as many unused. */
export const SEQUENCES = memory.data(16 * (32 * 1024 + 2), 16);
export const LITERALS = memory.data(128 * 1024 + 64, 16);
const LONG_BITS: u32 = 17;
const SHORT_BITS: u32 = 16;
/**
 * Entries are a place and, in the low byte, a tag of the hash, which spares most looks at bytes that do not match.
 * Places are kept as `place + base`, and `base` rises with each frame, so that the tables are seldom reset.
 */
const MAX_PLACE: u32 = 0xff_ffff;
const LONG_TABLE = memory.data(4 << LONG_BITS, 16);
const SHORT_TABLE = memory.data(4 << SHORT_BITS, 16);
let base: u32 = 1;

const PRIME: u64 = 0x9e37_79b1_85eb_ca87;
/** Bytes that a hash reads. */
const READ: usize = 8;

export let sequencesEnd: usize = 0;
export let literalsEnd: usize = 0;

/** The last two offsets. */
let recent1: u32 = 1;
let recent2: u32 = 4;
/** The same before the block at hand. */
let before1: u32 = 1;
let before2: u32 = 4;
let shift: u32 = 0;
let window: usize = 0;
let frame: usize = 0;
let shortLeft: u64 = 0;
let shortRight: u64 = 0;
let longRight: u64 = 0;
let stepSize: usize = 1;
let isDouble = false;

/** Sets out on a frame of `size` bytes at `source`. */
export function startSearch(source: usize, size: usize, level: i32, windowSize: usize): void {
  shift = base - <u32>source;
  base += min(<u32>size, MAX_PLACE);
  frame = source;
  window = windowSize;
  recent1 = 1;
  recent2 = 4;
  isDouble = level > 2;
  const isSmall = size <= 16 * 1024;
  const isMiddle = size <= 256 * 1024;
  const bytes: u64 = isDouble ? (isMiddle ? 4 : 5) : level == 2 ? 6 : isSmall ? 5 : isMiddle ? 6 : 7;
  const bits: u64 = isDouble ? (isSmall ? 14 : 16) : level == 2 ? 16 : 14;
  shortLeft = 64 - 8 * bytes;
  shortRight = 56 - bits;
  longRight = 56 - (isSmall ? 15 : isMiddle ? 16 : 17);
  stepSize = 2;
}

/** Finds the sequences of one block. */
export function searchBlock(source: usize, sourceEnd: usize): void {
  if (<u64>(<u32>(sourceEnd - frame)) + <u64>(<u32>frame + shift) > <u64>MAX_PLACE) forgetPlaces(source, sourceEnd);
  before1 = recent1;
  before2 = recent2;
  sequencesEnd = SEQUENCES;
  literalsEnd = LITERALS;
  let anchor = source;
  if (sourceEnd - source > READ + 4) {
    anchor = isDouble ? searchDouble(source, sourceEnd) : searchFast(source, sourceEnd);
  }
  const rest = sourceEnd - anchor;
  memory.copy(literalsEnd, anchor, rest);
  literalsEnd += rest;
}

/** Begins the count of places anew: matches are found from `source` on only. */
function forgetPlaces(source: usize, sourceEnd: usize): void {
  memory.fill(LONG_TABLE, 0, 4 << LONG_BITS);
  memory.fill(SHORT_TABLE, 0, 4 << SHORT_BITS);
  shift = 1 - <u32>source;
  frame = source;
  base = 1 + <u32>(sourceEnd - source);
}

/** Takes back the last two offsets: the block is not written as sequences. */
export function dropBlock(): void {
  recent1 = before1;
  recent2 = before2;
}

/** Hashes of the bytes at `s`, with a tag in the low byte. */
// @ts-ignore: decorator
@inline
function shortHash(s: usize, left: u64, right: u64): u32 {
  return <u32>(((load<u64>(s) << left) * PRIME) >> right);
}

// @ts-ignore: decorator
@inline
function longHash(s: usize, right: u64): u32 {
  return <u32>((load<u64>(s) * PRIME) >> right);
}

// @ts-ignore: decorator
@inline
function findShort(hash: u32): u32 {
  return load<u32>((hash >> 8) << 2, SHORT_TABLE);
}

// @ts-ignore: decorator
@inline
function findLong(hash: u32): u32 {
  return load<u32>((hash >> 8) << 2, LONG_TABLE);
}

// @ts-ignore: decorator
@inline
function keepShort(hash: u32, s: usize, by: u32): void {
  store<u32>((hash >> 8) << 2, ((<u32>s + by) << 8) | (hash & 255), SHORT_TABLE);
}

// @ts-ignore: decorator
@inline
function keepLong(hash: u32, s: usize, by: u32): void {
  store<u32>((hash >> 8) << 2, ((<u32>s + by) << 8) | (hash & 255), LONG_TABLE);
}

/** Whether an entry has the tag, and a place that is not too low. */
// @ts-ignore: decorator
@inline
function isLikely(found: u32, hash: u32, low: u32): bool {
  return ((found ^ hash) & 255) == 0 && found >> 8 >= low;
}

// @ts-ignore: decorator
@inline
function placeOf(found: u32, by: u32): usize {
  return <usize>((found >> 8) - by);
}

// @ts-ignore: decorator
@inline
function addSequence(anchor: usize, s: usize, code: u32, length: usize): void {
  const literals = s - anchor;
  const at = sequencesEnd;
  store<u32>(at, <u32>literals);
  store<u32>(at, <u32>length, 4);
  store<u32>(at, code, 8);
  sequencesEnd = at + 16;
  if (literals > 0) copyLiterals(literalsEnd, anchor, literals);
  literalsEnd += literals;
}

/** The lowest place that a match may begin at, as the tables have it. */
// @ts-ignore: decorator
@inline
function lowest(sourceEnd: usize): u32 {
  return <u32>(sourceEnd - frame > window ? sourceEnd - window : frame) + shift;
}

function searchFast(source: usize, sourceEnd: usize): usize {
  const low = lowest(sourceEnd);
  const lowPlace = <usize>(low - shift);
  const limit = sourceEnd - READ;
  const by = shift;
  const left = shortLeft;
  const right = shortRight;
  const firstStep = stepSize;
  let offset1 = recent1;
  let offset2 = recent2;
  let anchor = source;
  let s = source == frame ? source + 1 : source;
  let step = firstStep;
  let nextStep = s + 128;
  let hash = shortHash(s, left, right);
  let hash1 = shortHash(s + 1, left, right);

  while (s + step + 1 < limit) {
    const s2 = s + step;
    let match: usize;
    let found = findShort(hash);
    const current = s;
    keepShort(hash, s, by);
    if (load<u32>(s2) == load<u32>(s2 - offset1)) {
      keepShort(hash1, s + 1, by);
      s = s2;
      match = s - offset1;
      if (load<u8>(s - 1) == load<u8>(match - 1) && match > lowPlace) {
        s--;
        match--;
      }
      const length = matchLength(s + 4, match + 4, sourceEnd) + 4;
      addSequence(anchor, s, 1, length);
      s += length;
    } else {
      let isMatch = isLikely(found, hash, low) && load<u32>(placeOf(found, by)) == load<u32>(s);
      if (isMatch) keepShort(hash1, s + 1, by);
      else {
        found = findShort(hash1);
        s++;
        hash = hash1;
        hash1 = shortHash(s2, left, right);
        keepShort(hash, s, by);
        isMatch = isLikely(found, hash, low) && load<u32>(placeOf(found, by)) == load<u32>(s);
        if (isMatch && step <= 4) keepShort(hash1, s2, by);
      }
      if (!isMatch) {
        hash = hash1;
        hash1 = shortHash(s2 + 1, left, right);
        s = s2;
        if (s + step >= nextStep) {
          step++;
          nextStep += 128;
        }
        continue;
      }
      match = placeOf(found, by);
      let length = matchLength(s + 4, match + 4, sourceEnd) + 4;
      while (s > anchor && match > lowPlace && load<u8>(s - 1) == load<u8>(match - 1)) {
        s--;
        match--;
        length++;
      }
      offset2 = offset1;
      offset1 = <u32>(s - match);
      addSequence(anchor, s, offset1 + 3, length);
      s += length;
    }
    anchor = s;
    if (s > limit) break;
    keepShort(shortHash(current + 2, left, right), current + 2, by);
    keepShort(shortHash(s - 2, left, right), s - 2, by);
    while (s <= limit && load<u32>(s) == load<u32>(s - offset2)) {
      const length = matchLength(s + 4, s + 4 - offset2, sourceEnd) + 4;
      const other = offset1;
      offset1 = offset2;
      offset2 = other;
      keepShort(shortHash(s, left, right), s, by);
      addSequence(s, s, 1, length);
      s += length;
      anchor = s;
    }
    if (s + 1 > limit) break;
    step = firstStep;
    nextStep = s + 128;
    hash = shortHash(s, left, right);
    hash1 = shortHash(s + 1, left, right);
  }
  recent1 = offset1;
  recent2 = offset2;
  return anchor;
}

function searchDouble(source: usize, sourceEnd: usize): usize {
  const low = lowest(sourceEnd);
  const lowPlace = <usize>(low - shift);
  const limit = sourceEnd - READ;
  const by = shift;
  const left = shortLeft;
  const right = shortRight;
  const longShift = longRight;
  let offset1 = recent1;
  let offset2 = recent2;
  let anchor = source;
  let s = source == frame ? source + 1 : source;

  while (s + 1 <= limit) {
    let step: usize = 1;
    let nextStep = s + 256;
    let next = s + 1;
    let hash = longHash(s, longShift);
    let found = findLong(hash);
    let current = s;
    let length: usize = 0;
    let match: usize = 0;
    let isRecent = false;
    while (next <= limit) {
      current = s;
      const short = shortHash(s, left, right);
      const foundShort = findShort(short);
      keepLong(hash, s, by);
      keepShort(short, s, by);
      if (load<u32>(s + 1) == load<u32>(s + 1 - offset1)) {
        s++;
        length = matchLength(s + 4, s + 4 - offset1, sourceEnd) + 4;
        isRecent = true;
        break;
      }
      const nextHash = longHash(next, longShift);
      if (isLikely(found, hash, low) && load<u64>(placeOf(found, by)) == load<u64>(s)) {
        match = placeOf(found, by);
        length = matchLength(s + 8, match + 8, sourceEnd) + 8;
        if (step < 4) keepLong(nextHash, next, by);
      } else {
        found = findLong(nextHash);
        if (isLikely(foundShort, short, low) && load<u32>(placeOf(foundShort, by)) == load<u32>(s)) {
          match = placeOf(foundShort, by);
          length = matchLength(s + 4, match + 4, sourceEnd) + 4;
          if (step < 4) keepLong(nextHash, next, by);
          if (isLikely(found, nextHash, low) && load<u64>(placeOf(found, by)) == load<u64>(next)) {
            const farther = matchLength(next + 8, placeOf(found, by) + 8, sourceEnd) + 8;
            if (farther > length) {
              s = next;
              match = placeOf(found, by);
              length = farther;
            }
          }
        }
      }
      if (length > 0) {
        while (s > anchor && match > lowPlace && load<u8>(s - 1) == load<u8>(match - 1)) {
          s--;
          match--;
          length++;
        }
        break;
      }
      if (next >= nextStep) {
        step++;
        nextStep += 256;
      }
      s = next;
      next += step;
      hash = nextHash;
    }
    if (length == 0) break;

    if (isRecent) addSequence(anchor, s, 1, length);
    else {
      offset2 = offset1;
      offset1 = <u32>(s - match);
      addSequence(anchor, s, offset1 + 3, length);
    }
    s += length;
    anchor = s;
    if (s > limit) break;
    keepLong(longHash(current + 2, longShift), current + 2, by);
    keepLong(longHash(s - 2, longShift), s - 2, by);
    keepShort(shortHash(current + 2, left, right), current + 2, by);
    keepShort(shortHash(s - 1, left, right), s - 1, by);
    while (s <= limit && load<u32>(s) == load<u32>(s - offset2)) {
      const again = matchLength(s + 4, s + 4 - offset2, sourceEnd) + 4;
      const other = offset1;
      offset1 = offset2;
      offset2 = other;
      keepShort(shortHash(s, left, right), s, by);
      keepLong(longHash(s, longShift), s, by);
      addSequence(s, s, 1, again);
      s += again;
      anchor = s;
    }
  }
  recent1 = offset1;
  recent2 = offset2;
  return anchor;
}
