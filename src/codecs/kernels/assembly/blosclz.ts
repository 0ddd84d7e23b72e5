import { copyLiterals, copyMatch, matchLength } from "./copy";
import { distanceTo, hashAt, hasTag, keepPlace, lastPlace, raiseBase } from "./match-table";

/**
 * BloscLZ streams. A control byte below 32 is the number of literals, minus one. Otherwise its upper three bits are a
 * match length, and its lower five with the next byte a distance. The first control byte always counts literals.
 */

const MIN_MATCH: usize = 3;
const MAX_RUN: usize = 32;
/** The largest two-byte distance, minus one; for longer distances two more bytes follow. */
const NEAR: usize = 8191;
const MAX_DISTANCE: u32 = 65_535 + 8191;

/** Decodes a stream. Returns the bytes written, or -1 if it is broken or decodes to more than the target holds. */
export function blosclzDecode(source: usize, sourceEnd: usize, target: usize, targetEnd: usize): i32 {
  let s = source;
  let t = target;
  while (s < sourceEnd) {
    let control = <usize>load<u8>(s);
    if (s == source) control &= 31;
    s++;
    if (control < MAX_RUN) {
      const literals = control + 1;
      if (literals > sourceEnd - s || literals > targetEnd - t) return -1;
      v128.store(t, v128.load(s));
      v128.store(t, v128.load(s, 16), 16);
      s += literals;
      t += literals;
      continue;
    }

    let length = (control >> 5) + MIN_MATCH - 1;
    if (control >> 5 == 7) {
      let more: usize;
      do {
        if (s >= sourceEnd) return -1;
        more = <usize>load<u8>(s++);
        length += more;
      } while (more == 255);
    }
    if (s >= sourceEnd) return -1;
    let distance = ((control & 31) << 8) + <usize>load<u8>(s++) + 1;
    if (distance == NEAR + 1) {
      if (s + 2 > sourceEnd) return -1;
      distance += (<usize>load<u8>(s) << 8) + <usize>load<u8>(s, 1);
      s += 2;
    }
    if (distance > t - target || length > targetEnd - t) return -1;
    if (distance >= 16) {
      v128.store(t, v128.load(t - distance));
      if (length > 16) copyMatch(t + 16, distance, length - 16);
    } else copyMatch(t, distance, length);
    t += length;
  }
  return <i32>(t - target);
}

/** Encodes a stream. Returns the bytes written, or 0 if they do not fit. */
export function blosclzEncode(source: usize, sourceEnd: usize, target: usize, targetEnd: usize): u32 {
  const shift = raiseBase(<u32>(sourceEnd - source)) - <u32>source;
  let t = target;
  let anchor = source;
  if (sourceEnd - source > 6) {
    // Decoders require that the stream ends with a literal.
    const searchEnd = sourceEnd - 5;
    let s = source + 1;
    while (true) {
      let match: usize = 0;
      let tries: u32 = 64;
      while (s < searchEnd) {
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
        s += <usize>(tries++ >> 6);
      }
      if (s >= searchEnd) break;
      const next = s + 4 + matchLength(s + 4, match + 4, sourceEnd - 1);
      t = writeRuns(t, targetEnd, anchor, s);
      if (t == 0) return 0;
      t = writeMatch(t, targetEnd, s - match - 1, next - s - MIN_MATCH + 1);
      if (t == 0) return 0;
      s = next;
      anchor = next;
    }
  }
  t = writeRuns(t, targetEnd, anchor, sourceEnd);
  return t == 0 ? 0 : <u32>(t - target);
}

/** Writes literals in runs, each after its count minus one. Returns their end, or 0 if they do not fit. */
function writeRuns(t: usize, targetEnd: usize, s: usize, end: usize): usize {
  while (s < end) {
    const run = min(MAX_RUN, end - s);
    if (t + 1 + run > targetEnd) return 0;
    store<u8>(t++, <u8>(run - 1));
    copyLiterals(t, s, run);
    t += run;
    s += run;
  }
  return t;
}

/** Writes a match, given its distance minus one and its length code. Returns its end, or 0 if it does not fit. */
function writeMatch(t: usize, targetEnd: usize, distance: usize, code: usize): usize {
  if (t + 5 + code / 255 > targetEnd) return 0;
  const reach = min(distance, NEAR);
  store<u8>(t++, <u8>((min(code, 7) << 5) | (reach >> 8)));
  if (code >= 7) {
    let rest = code - 7;
    for (; rest >= 255; rest -= 255) store<u8>(t++, 255);
    store<u8>(t++, <u8>rest);
  }
  store<u8>(t++, <u8>reach);
  if (reach == NEAR) {
    const far = distance - NEAR;
    store<u8>(t, <u8>(far >> 8));
    store<u8>(t, <u8>far, 1);
    t += 2;
  }
  return t;
}
