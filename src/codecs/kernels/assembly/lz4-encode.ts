import { copyLiterals, matchLength } from "./copy";
import {
  clearNearPlaces,
  distanceTo,
  hashAt,
  hasTag,
  keepNearPlace,
  keepPlace,
  lastNearPlace,
  lastPlace,
  nearSlot,
  raiseBase,
  SHORT_STREAM,
} from "./match-table";

/** Encodes raw LZ4 blocks, as described in `lz4-decode.ts`. */

const MIN_MATCH: usize = 4;
const MAX_DISTANCE: u32 = 65_535;
/** A block ends with at least five literals, and its last match starts at least twelve bytes before the end. */
const LAST_LITERALS: usize = 5;
const MATCH_START_LIMIT: usize = 12;

/**
 * Encodes a block; a larger `acceleration` skips incompressible data faster. Returns the bytes written, or 0 if they do
 * not fit.
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
  const size = <u32>(sourceEnd - source);
  const shift = isShort ? 0 : raiseBase(size) - <u32>source;
  const unused = isShort ? clearNearPlaces(size) : 0;
  let t = target;
  let anchor = source;

  if (sourceEnd - source > MATCH_START_LIMIT) {
    const searchEnd = sourceEnd - MATCH_START_LIMIT;
    const matchEnd = sourceEnd - LAST_LITERALS;
    let s = isShort ? source + 1 : source;
    while (true) {
      let match: usize = 0;
      let tries = acceleration << 6;
      let step: usize = 1;
      let nextStep: usize = 1;
      while (s < searchEnd) {
        if (isShort) {
          const word = load<u32>(s);
          const slot = nearSlot(word, unused);
          match = source + lastNearPlace(slot);
          keepNearPlace(slot, s - source);
          if (load<u32>(match) == word) break;
        } else {
          const hash = hashAt(s);
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
        }
        s += step;
        step = nextStep;
        nextStep = <usize>(tries++ >> 6);
      }
      if (s >= searchEnd) break;

      const next = s + MIN_MATCH + matchLength(s + MIN_MATCH, match + MIN_MATCH, matchEnd);
      const reach = min(s - anchor, match - source);
      const back = min(reach, <usize>(clz(load<u64>(s - 8) ^ load<u64>(match - 8)) >> 3));
      const literals = s - back - anchor;
      const matched = next - (s - back) - MIN_MATCH;
      let needed = 5 + literals;
      if (literals + matched >= 255) needed += literals / 255 + matched / 255;
      if (t + needed > targetEnd) return 0;
      const distance = <u16>(s - match);
      store<u8>(t++, <u8>((min(literals, 15) << 4) | min(matched, 15)));
      if (literals < 15) v128.store(t, v128.load(anchor));
      else {
        t = writeLength(t, literals - 15);
        copyLiterals(t, anchor, literals);
      }
      t += literals;
      store<u16>(t, distance);
      t += 2;
      if (matched >= 15) t = writeLength(t, matched - 15);
      s = next;
      anchor = next;
      if (s >= searchEnd) break;
      if (isShort) keepNearPlace(nearSlot(load<u32>(s - 2), unused), s - 2 - source);
      else keepPlace(hashAt(s - 2), <u32>s - 2 + shift);
    }
  }

  const literals = sourceEnd - anchor;
  if (t + 2 + literals + literals / 255 > targetEnd) return 0;
  store<u8>(t++, <u8>(min(literals, 15) << 4));
  if (literals >= 15) t = writeLength(t, literals - 15);
  memory.copy(t, anchor, literals);
  return <u32>(t + literals - target);
}

/** Writes the part of a length that does not fit in the four bits of the token. */
function writeLength(t: usize, rest: usize): usize {
  while (rest >= 255) {
    store<u8>(t++, 255);
    rest -= 255;
  }
  store<u8>(t++, <u8>rest);
  return t;
}
