import { copyLiterals, copyMatch, lastPlaces, matchLength, raiseBase, slotOf } from "./lz-blocks.ts";
import { wordView } from "./swap-bytes.ts";

/**
 * LZ4 in TypeScript, for blocks that do not fit in the memory of the kernels, and for blosc streams that the block
 * kernels do not handle.
 *
 * Raw LZ4 blocks: sequences of a token, literals, and a match of at least four bytes, at most 65,535 bytes back. Words
 * are read and written unaligned, four bytes per step, never outside the stated bounds.
 */

const MIN_MATCH = 4;
const MAX_DISTANCE = 65_535;
/** A block ends with at least five literals, and its last match starts at least twelve bytes before the end. */
const LAST_LITERALS = 5;
const MATCH_START_LIMIT = 12;

/** The most bytes that a block of `size` bytes can need. */
export function lz4MaxEncodedSize(size: number): number {
  return size + Math.floor(size / 255) + 16;
}

/**
 * Encodes `source[start, end)` into `target[targetStart, targetEnd)`.
 *
 * @param acceleration 1 tries every position; a larger value skips incompressible data faster.
 * @returns the bytes written, or 0 if they do not fit.
 */
export function lz4Encode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
  acceleration: number,
): number {
  const words = wordView(source);
  const out = wordView(target);
  const shift = raiseBase(end - start) - start;
  const searchEnd = end - MATCH_START_LIMIT;
  const matchEnd = end - LAST_LITERALS;
  let t = targetStart;
  let anchor = start;
  let s = start;

  while (s < searchEnd) {
    let match = start;
    let step = 1;
    let nextStep = 1;
    for (let tries = acceleration << 6; s < searchEnd; tries++) {
      const word = words.getInt32(s, true);
      const slot = slotOf(word);
      match = (lastPlaces[slot] as number) - shift;
      lastPlaces[slot] = s + shift;
      if (match >= start && s - match <= MAX_DISTANCE && words.getInt32(match, true) === word) break;
      s += step;
      step = nextStep;
      nextStep = tries >>> 6;
    }
    if (s >= searchEnd) break;
    while (s > anchor && match > start && source[s - 1] === source[match - 1]) {
      s--;
      match--;
    }

    const distance = s - match;
    const literals = s - anchor;
    const matched = matchLength(words, s + MIN_MATCH, distance, matchEnd);
    if (t + 5 + literals + literals / 255 + matched / 255 > targetEnd) return 0;

    const token = t++;
    t = writeLength(target, t, literals);
    copyLiterals(source, words, anchor, target, out, t, literals, targetEnd);
    t += literals;
    out.setInt16(t, distance, true);
    t = writeLength(target, t + 2, matched);
    target[token] = (Math.min(literals, 15) << 4) | Math.min(matched, 15);

    s += MIN_MATCH + matched;
    anchor = s;
    if (s < searchEnd) lastPlaces[slotOf(words.getInt32(s - 2, true))] = s - 2 + shift;
  }

  const literals = end - anchor;
  if (t + 2 + literals + literals / 255 > targetEnd) return 0;
  target[t] = Math.min(literals, 15) << 4;
  t = writeLength(target, t + 1, literals);
  copyLiterals(source, words, anchor, target, out, t, literals, targetEnd);
  return t + literals - targetStart;
}

/**
 * Decodes the block `source[start, end)` into `target[targetStart, targetEnd)`. May overwrite bytes of that range after
 * the result, but nothing outside it.
 *
 * @param isPrefix true to stop when the range is full; the rest of the block is not checked.
 * @returns the bytes written, or -1 if the decoded part is broken or a whole block decodes to more than the range
 *   holds.
 */
export function lz4Decode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
  isPrefix = false,
): number {
  const words = wordView(source);
  const out = wordView(target);
  let s = start;
  let t = targetStart;

  while (s < end) {
    if (isPrefix && t === targetEnd) return t - targetStart;
    const token = source[s++] as number;
    let literals = token >>> 4;
    if (literals === 15) {
      let more = 255;
      while (more === 255) {
        if (s === end) return -1;
        more = source[s++] as number;
        literals += more;
      }
    }
    if (literals > end - s) return -1;
    if (literals > targetEnd - t) {
      if (!isPrefix) return -1;
      literals = targetEnd - t;
    }
    if (literals <= 16 && s + 16 <= end && t + 16 <= targetEnd) {
      out.setInt32(t, words.getInt32(s, true), true);
      out.setInt32(t + 4, words.getInt32(s + 4, true), true);
      out.setInt32(t + 8, words.getInt32(s + 8, true), true);
      out.setInt32(t + 12, words.getInt32(s + 12, true), true);
    } else copyLiterals(source, words, s, target, out, t, literals, targetEnd);
    s += literals;
    t += literals;
    if (s === end || (isPrefix && t === targetEnd)) return t - targetStart;

    if (s + 2 > end) return -1;
    const distance = words.getUint16(s, true);
    s += 2;
    if (distance === 0 || distance > t - targetStart) return -1;
    let length = (token & 15) + MIN_MATCH;
    if (length === 15 + MIN_MATCH) {
      let more = 255;
      while (more === 255) {
        if (s === end) return -1;
        more = source[s++] as number;
        length += more;
      }
    }
    if (length > targetEnd - t) {
      if (!isPrefix) return -1;
      length = targetEnd - t;
    }
    if (length <= 16 && distance >= 4 && t + 16 <= targetEnd) {
      const back = t - distance;
      out.setInt32(t, out.getInt32(back, true), true);
      out.setInt32(t + 4, out.getInt32(back + 4, true), true);
      out.setInt32(t + 8, out.getInt32(back + 8, true), true);
      out.setInt32(t + 12, out.getInt32(back + 12, true), true);
    } else copyMatch(target, out, t, distance, length, targetEnd);
    t += length;
  }
  return -1;
}

/** Writes the part of a length that does not fit in the four bits of the token. */
function writeLength(target: Uint8Array, start: number, length: number): number {
  if (length < 15) return start;
  let t = start;
  let rest = length - 15;
  for (; rest >= 255; rest -= 255) target[t++] = 255;
  target[t++] = rest;
  return t;
}
