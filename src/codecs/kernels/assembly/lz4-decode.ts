import { copyLiterals, copyMatch, nextUnit } from "./copy";

/** Raw LZ4 blocks: sequences of a token, literals, and a match of at least four bytes, at most 65,535 bytes back. */

const MIN_MATCH: usize = 4;
/** A token and a distance. */
const FIXED_BYTES: usize = 3;
/** This close to the end of source or target, copies of 16 bytes are checked one by one. */
const LAST_SOURCE: usize = 32;
const LAST_TARGET: usize = 64;

/**
 * Decodes a block or, with `isPrefix`, only as much as fills the target. Returns the bytes written, or -1 if the
 * decoded part is broken or a whole block decodes to more than the target holds.
 */
export function lz4Decode(
  source: usize,
  sourceEnd: usize,
  target: usize,
  targetEnd: usize,
  isPrefix: bool,
): i32 {
  let s = source;
  let t = target;
  if (sourceEnd - source > LAST_SOURCE && targetEnd - target > LAST_TARGET) {
    const swiftSource = sourceEnd - LAST_SOURCE + FIXED_BYTES;
    const swiftTarget = targetEnd - LAST_TARGET;
    while (t < swiftTarget) {
      // Every sequence waits for the position of the next token, so compute it with one addition after this token is
      // loaded.
      let next = s + FIXED_BYTES;
      if (next >= swiftSource) break;
      const token = <usize>load<u8>(s);
      v128.store(t, v128.load(s, 1));
      let literals = token >> 4;
      if (literals < 15) next += literals;
      else {
        let at = s + 1;
        let more: usize;
        do {
          if (at >= sourceEnd) return -1;
          more = <usize>load<u8>(at++);
          literals += more;
        } while (more == 255);
        if (literals >= sourceEnd - at || literals >= targetEnd - t) break;
        copyLiterals(t, at, literals);
        next = at + literals + 2;
      }
      t += literals;
      const distance = <usize>load<u16>(next - 2);
      s = next;
      if (distance - 1 >= t - target) return -1;
      let length = (token & 15) + MIN_MATCH;
      if (length <= 16) v128.store(t, nextUnit(t, distance));
      else {
        if (length == 15 + MIN_MATCH) {
          let more: usize;
          do {
            if (s >= sourceEnd) return -1;
            more = <usize>load<u8>(s++);
            length += more;
          } while (more == 255);
        }
        if (s > sourceEnd) return -1;
        if (length > targetEnd - t) {
          if (!isPrefix) return -1;
          length = targetEnd - t;
        }
        copyMatch(t, distance, length);
      }
      t += length;
    }
  }
  return decodeRest(s, sourceEnd, target, t, targetEnd, isPrefix);
}

/** Decodes the sequences from `s` on and checks each copy. */
function decodeRest(
  s: usize,
  sourceEnd: usize,
  target: usize,
  t: usize,
  targetEnd: usize,
  isPrefix: bool,
): i32 {
  while (s < sourceEnd) {
    // A short match after long literals was not checked against the end.
    if (t >= targetEnd) {
      if (isPrefix) return <i32>(targetEnd - target);
      if (t > targetEnd) return -1;
    }
    const token = <usize>load<u8>(s++);
    let literals = token >> 4;
    if (literals < 15) {
      // Copy before checking: both ends have room for 16 more bytes. The checks follow below.
      v128.store(t, v128.load(s));
    } else {
      let more: usize;
      do {
        if (s >= sourceEnd) return -1;
        more = <usize>load<u8>(s++);
        literals += more;
      } while (more == 255);
      if (literals > sourceEnd - s) return -1;
      if (literals > targetEnd - t) {
        if (!isPrefix) return -1;
        copyLiterals(t, s, targetEnd - t);
      } else copyLiterals(t, s, literals);
    }
    s += literals;
    t += literals;
    if (s > sourceEnd) return -1;
    if (t >= targetEnd && isPrefix) return <i32>(targetEnd - target);
    if (t > targetEnd) return -1;
    if (s == sourceEnd) return <i32>(t - target);

    const distance = <usize>load<u16>(s);
    s += 2;
    let length = (token & 15) + MIN_MATCH;
    if (length == 15 + MIN_MATCH) {
      let more: usize;
      do {
        if (s >= sourceEnd) return -1;
        more = <usize>load<u8>(s++);
        length += more;
      } while (more == 255);
    }
    if (s > sourceEnd || distance - 1 >= t - target) return -1;
    if (length > targetEnd - t) {
      if (!isPrefix) return -1;
      length = targetEnd - t;
    }
    copyMatch(t, distance, length);
    t += length;
  }
  return -1;
}
