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
/** Places as `place + base`, which rises with each frame, so that the tables are never reset. */
const LONG_TABLE = memory.data(4 << LONG_BITS, 16);
const SHORT_TABLE = memory.data(4 << SHORT_BITS, 16);
let base: u32 = 1;

const PRIME: u64 = 0xcf1b_bcdc_b7a5_6463;
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
  if (<u64>base + <u64>size > 0x7fff_ffff) {
    memory.fill(LONG_TABLE, 0, 4 << LONG_BITS);
    memory.fill(SHORT_TABLE, 0, 4 << SHORT_BITS);
    base = 1;
  }
  shift = base - <u32>source;
  base += <u32>size;
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
  shortRight = 64 - bits;
  longRight = 64 - (isSmall ? 15 : isMiddle ? 16 : 17);
  stepSize = 2;
}

/** Finds the sequences of one block. */
export function searchBlock(source: usize, sourceEnd: usize): void {
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

/** Takes back the last two offsets: the block is not written as sequences. */
export function dropBlock(): void {
  recent1 = before1;
  recent2 = before2;
}

// @ts-ignore: decorator
@inline
function shortSlot(s: usize): usize {
  return SHORT_TABLE + (<usize>(((load<u64>(s) << shortLeft) * PRIME) >> shortRight) << 2);
}

// @ts-ignore: decorator
@inline
function longSlot(s: usize): usize {
  return LONG_TABLE + (<usize>((load<u64>(s) * PRIME) >> longRight) << 2);
}

// @ts-ignore: decorator
@inline
function keep(slot: usize, s: usize): void {
  store<u32>(slot, <u32>s + shift);
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
  let anchor = source;
  let s = source == frame ? source + 1 : source;
  let step = stepSize;
  let nextStep = s + 128;
  let slot = shortSlot(s);
  let slot1 = shortSlot(s + 1);

  while (s + step + 1 < limit) {
    const s2 = s + step;
    let match: usize;
    let found = load<u32>(slot);
    const current = s;
    keep(slot, s);
    if (load<u32>(s2) == load<u32>(s2 - recent1)) {
      keep(slot1, s + 1);
      s = s2;
      match = s - recent1;
      if (load<u8>(s - 1) == load<u8>(match - 1) && match > lowPlace) {
        s--;
        match--;
      }
      const length = matchLength(s + 4, match + 4, sourceEnd) + 4;
      addSequence(anchor, s, 1, length);
      s += length;
    } else {
      let isMatch = found >= low && load<u32>(<usize>(found - shift)) == load<u32>(s);
      if (isMatch) keep(slot1, s + 1);
      else {
        found = load<u32>(slot1);
        s++;
        slot = slot1;
        slot1 = shortSlot(s2);
        keep(slot, s);
        isMatch = found >= low && load<u32>(<usize>(found - shift)) == load<u32>(s);
        if (isMatch && step <= 4) keep(slot1, s2);
      }
      if (!isMatch) {
        slot = slot1;
        slot1 = shortSlot(s2 + 1);
        s = s2;
        if (s + step >= nextStep) {
          step++;
          nextStep += 128;
        }
        continue;
      }
      match = <usize>(found - shift);
      let length = matchLength(s + 4, match + 4, sourceEnd) + 4;
      while (s > anchor && match > lowPlace && load<u8>(s - 1) == load<u8>(match - 1)) {
        s--;
        match--;
        length++;
      }
      recent2 = recent1;
      recent1 = <u32>(s - match);
      addSequence(anchor, s, recent1 + 3, length);
      s += length;
    }
    anchor = s;
    if (s > limit) break;
    keep(shortSlot(current + 2), current + 2);
    keep(shortSlot(s - 2), s - 2);
    while (s <= limit && load<u32>(s) == load<u32>(s - recent2)) {
      const length = matchLength(s + 4, s + 4 - recent2, sourceEnd) + 4;
      const other = recent1;
      recent1 = recent2;
      recent2 = other;
      keep(shortSlot(s), s);
      addSequence(s, s, 1, length);
      s += length;
      anchor = s;
    }
    if (s + 1 > limit) break;
    step = stepSize;
    nextStep = s + 128;
    slot = shortSlot(s);
    slot1 = shortSlot(s + 1);
  }
  return anchor;
}

function searchDouble(source: usize, sourceEnd: usize): usize {
  const low = lowest(sourceEnd);
  const lowPlace = <usize>(low - shift);
  const limit = sourceEnd - READ;
  let anchor = source;
  let s = source == frame ? source + 1 : source;

  while (s + 1 <= limit) {
    let step: usize = 1;
    let nextStep = s + 256;
    let next = s + 1;
    let slot = longSlot(s);
    let found = load<u32>(slot);
    let current = s;
    let length: usize = 0;
    let match: usize = 0;
    let isRecent = false;
    while (next <= limit) {
      current = s;
      const short = shortSlot(s);
      const foundShort = load<u32>(short);
      keep(slot, s);
      keep(short, s);
      if (load<u32>(s + 1) == load<u32>(s + 1 - recent1)) {
        s++;
        length = matchLength(s + 4, s + 4 - recent1, sourceEnd) + 4;
        isRecent = true;
        break;
      }
      const nextSlot = longSlot(next);
      if (found >= low && load<u64>(<usize>(found - shift)) == load<u64>(s)) {
        match = <usize>(found - shift);
        length = matchLength(s + 8, match + 8, sourceEnd) + 8;
        if (step < 4) keep(nextSlot, next);
      } else {
        found = load<u32>(nextSlot);
        if (foundShort >= low && load<u32>(<usize>(foundShort - shift)) == load<u32>(s)) {
          match = <usize>(foundShort - shift);
          length = matchLength(s + 4, match + 4, sourceEnd) + 4;
          if (step < 4) keep(nextSlot, next);
          if (found >= low && load<u64>(<usize>(found - shift)) == load<u64>(next)) {
            const farther = matchLength(next + 8, <usize>(found - shift) + 8, sourceEnd) + 8;
            if (farther > length) {
              s = next;
              match = <usize>(found - shift);
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
      slot = nextSlot;
    }
    if (length == 0) break;

    if (isRecent) addSequence(anchor, s, 1, length);
    else {
      recent2 = recent1;
      recent1 = <u32>(s - match);
      addSequence(anchor, s, recent1 + 3, length);
    }
    s += length;
    anchor = s;
    if (s > limit) break;
    keep(longSlot(current + 2), current + 2);
    keep(longSlot(s - 2), s - 2);
    keep(shortSlot(current + 2), current + 2);
    keep(shortSlot(s - 1), s - 1);
    while (s <= limit && load<u32>(s) == load<u32>(s - recent2)) {
      const again = matchLength(s + 4, s + 4 - recent2, sourceEnd) + 4;
      const other = recent1;
      recent1 = recent2;
      recent2 = other;
      keep(shortSlot(s), s);
      keep(longSlot(s), s);
      addSequence(s, s, 1, again);
      s += again;
      anchor = s;
    }
  }
  return anchor;
}
