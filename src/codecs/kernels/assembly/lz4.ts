import { copyLiterals, copyMatch, matchLength } from "./copy";
import { distanceTo, hashAt, hasTag, keepPlace, lastPlace, raiseBase, SHORT_STREAM } from "./match-table";

/** Raw LZ4 blocks: sequences of a token, literals, and a match of at least four bytes at most 65,535 back. */

const MIN_MATCH: usize = 4;
const MAX_DISTANCE: u32 = 65_535;
/** A block ends with five literals at least, and its last match begins twelve bytes before the end at least. */
const LAST_LITERALS: usize = 5;
const MATCH_START_LIMIT: usize = 12;

/** Decodes a block. Returns the bytes written, or -1 where it is broken or would give more than the target holds. */
export function lz4Decode(source: usize, sourceEnd: usize, target: usize, targetEnd: usize): i32 {
  let s = source;
  let t = target;
  while (s < sourceEnd) {
    const token = <usize>load<u8>(s++);
    let literals = token >> 4;
    if (literals < 15) {
      // No check before the copy: both ends have room for 16 bytes more. Where it went too far shows below.
      v128.store(t, v128.load(s));
    } else {
      let more: usize;
      do {
        if (s >= sourceEnd) return -1;
        more = <usize>load<u8>(s++);
        literals += more;
      } while (more == 255);
      if (literals > sourceEnd - s || literals > targetEnd - t) return -1;
      copyLiterals(t, s, literals);
    }
    s += literals;
    t += literals;
    if (s >= sourceEnd) return s == sourceEnd && t <= targetEnd ? <i32>(t - target) : -1;

    const distance = <usize>load<u16>(s);
    s += 2;
    let length = token & 15;
    if (length == 15) {
      let more: usize;
      do {
        if (s >= sourceEnd) return -1;
        more = <usize>load<u8>(s++);
        length += more;
      } while (more == 255);
    }
    length += MIN_MATCH;
    if (s > sourceEnd || distance - 1 >= t - target || t + length > targetEnd) return -1;
    if (distance >= 16) {
      v128.store(t, v128.load(t - distance));
      if (length > 16) copyMatch(t + 16, distance, length - 16);
    } else copyMatch(t, distance, length);
    t += length;
  }
  return -1;
}

/**
 * Encodes a block; a larger `acceleration` skips faster over what does not compress. Returns the bytes written, or 0
 * where they do not fit.
 */
export function lz4Encode(
  source: usize,
  sourceEnd: usize,
  target: usize,
  targetEnd: usize,
  acceleration: u32,
): u32 {
  return sourceEnd - source < SHORT_STREAM
    ? encode(source, sourceEnd, target, targetEnd, acceleration, true)
    : encode(source, sourceEnd, target, targetEnd, acceleration, false);
}

// @ts-ignore: decorator
@inline
function encode(
  source: usize,
  sourceEnd: usize,
  target: usize,
  targetEnd: usize,
  acceleration: u32,
  isShort: bool,
): u32 {
  const shift = raiseBase(<u32>(sourceEnd - source)) - <u32>source;
  let t = target;
  let anchor = source;

  if (sourceEnd - source > MATCH_START_LIMIT) {
    const searchEnd = sourceEnd - MATCH_START_LIMIT;
    const matchEnd = sourceEnd - LAST_LITERALS;
    let s = source;
    while (true) {
      let match: usize = 0;
      let tries = acceleration << 6;
      let step: usize = 1;
      let nextStep: usize = 1;
      while (s < searchEnd) {
        const hash = hashAt(s, isShort);
        const entry = lastPlace(hash);
        const place = <u32>s + shift;
        keepPlace(hash, place);
        if (hasTag(entry, hash)) {
          const distance = distanceTo(place, entry);
          match = s - <usize>distance;
          if (
            distance - 1 < MAX_DISTANCE &&
            <usize>distance <= s - source &&
            load<u32>(match) == load<u32>(s)
          ) {
            break;
          }
        }
        s += step;
        step = nextStep;
        nextStep = <usize>(tries++ >> 6);
      }
      if (s >= searchEnd) break;
      while (s > anchor && match > source && load<u8>(s - 1) == load<u8>(match - 1)) {
        s--;
        match--;
      }

      const literals = s - anchor;
      const matched = matchLength(s + MIN_MATCH, match + MIN_MATCH, matchEnd);
      let needed = 5 + literals;
      if (literals + matched >= 255) needed += literals / 255 + matched / 255;
      if (t + needed > targetEnd) return 0;
      const token = t++;
      if (literals < 15) {
        store<u8>(token, <u8>(literals << 4));
        v128.store(t, v128.load(anchor));
      } else {
        store<u8>(token, 15 << 4);
        t = writeLength(t, literals - 15);
        copyLiterals(t, anchor, literals);
      }
      t += literals;
      store<u16>(t, <u16>(s - match));
      t += 2;
      if (matched < 15) store<u8>(token, load<u8>(token) | <u8>matched);
      else {
        store<u8>(token, load<u8>(token) | 15);
        t = writeLength(t, matched - 15);
      }
      s += MIN_MATCH + matched;
      anchor = s;
      if (s >= searchEnd) break;
      keepPlace(hashAt(s - 2, isShort), <u32>s - 2 + shift);
    }
  }

  const literals = sourceEnd - anchor;
  if (t + 2 + literals + literals / 255 > targetEnd) return 0;
  if (literals < 15) store<u8>(t++, <u8>(literals << 4));
  else {
    store<u8>(t++, 15 << 4);
    t = writeLength(t, literals - 15);
  }
  memory.copy(t, anchor, literals);
  return <u32>(t + literals - target);
}

/** The bytes that carry what of a length the token's four bits do not. */
function writeLength(t: usize, rest: usize): usize {
  while (rest >= 255) {
    store<u8>(t++, 255);
    rest -= 255;
  }
  store<u8>(t++, <u8>rest);
  return t;
}
