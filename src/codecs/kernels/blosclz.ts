import { copyLiterals, copyMatch, lastPlaces, matchLength, raiseBase, slotOf } from "./lz-blocks.ts";
import { wordView } from "./swap-bytes.ts";

/**
 * BloscLZ in TypeScript, for streams of blocks that the kernels do not handle: blocks above 256 MiB, and broken ones.
 *
 * A control byte below 32 is the number of literals, minus one. Otherwise its upper three bits are a match length, and
 * its lower five with the next byte a distance. The first control byte always counts literals.
 */

const MIN_MATCH = 3;
const MAX_RUN = 32;
/** The largest two-byte distance, minus one; for longer distances two more bytes follow. */
const NEAR = 8191;
const MAX_DISTANCE = 65_535 + NEAR;

/**
 * Decodes `source[start, end)` into `target[targetStart, targetEnd)`. May overwrite bytes of that range after the
 * result, but nothing outside it.
 *
 * @returns the bytes written, or -1 if the stream is broken or decodes to more than the range holds.
 */
export function blosclzDecode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
): number {
  const words = wordView(source);
  const out = wordView(target);
  let s = start;
  let t = targetStart;
  let first = true;

  while (s < end) {
    const control = first ? words.getUint8(s) & 31 : words.getUint8(s);
    first = false;
    s++;
    if (control < MAX_RUN) {
      const literals = control + 1;
      if (literals > end - s || literals > targetEnd - t) return -1;
      copyLiterals(source, words, s, target, out, t, literals, targetEnd);
      s += literals;
      t += literals;
      continue;
    }

    let length = (control >>> 5) + MIN_MATCH - 1;
    if (control >>> 5 === 7) {
      let more = 255;
      while (more === 255) {
        if (s === end) return -1;
        more = words.getUint8(s++);
        length += more;
      }
    }
    if (s === end) return -1;
    const low = words.getUint8(s++);
    let distance = ((control & 31) << 8) + low + 1;
    if (distance === NEAR + 1) {
      if (s + 2 > end) return -1;
      distance += words.getUint16(s, false);
      s += 2;
    }
    if (distance > t - targetStart || length > targetEnd - t) return -1;
    copyMatch(target, out, t, distance, length, targetEnd);
    t += length;
  }
  return t - targetStart;
}

/**
 * Encodes `source[start, end)` into `target[targetStart, targetEnd)`.
 *
 * @returns the bytes written, or 0 if they do not fit.
 */
export function blosclzEncode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
): number {
  const words = wordView(source);
  const shift = raiseBase(end - start) - start;
  // Decoders require that the stream ends with a literal.
  const searchEnd = end - 5;
  let t = targetStart;
  let anchor = start;
  let s = start + 1;

  while (s < searchEnd) {
    let match = start;
    for (let tries = 64; s < searchEnd; s += tries++ >>> 6) {
      const word = words.getInt32(s, true);
      const slot = slotOf(word);
      match = (lastPlaces[slot] as number) - shift;
      lastPlaces[slot] = s + shift;
      if (match >= start && s - match <= MAX_DISTANCE && words.getInt32(match, true) === word) break;
    }
    if (s >= searchEnd) break;
    const distance = s - match;
    const next = s + 4 + matchLength(words, s + 4, distance, end - 1);

    t = writeRuns(source, anchor, s, target, t, targetEnd);
    if (t === 0) return 0;
    t = writeMatch(target, t, targetEnd, distance, next - s);
    if (t === 0) return 0;
    s = next;
    anchor = next;
  }
  t = writeRuns(source, anchor, end, target, t, targetEnd);
  return t === 0 ? 0 : t - targetStart;
}

/** Writes literals in runs of at most 32, each after its count minus one. Returns the end, or 0 if they do not fit. */
function writeRuns(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
): number {
  let t = targetStart;
  for (let s = start; s < end; ) {
    const run = Math.min(MAX_RUN, end - s);
    if (t + 1 + run > targetEnd) return 0;
    target[t++] = run - 1;
    for (const stop = s + run; s < stop; ) target[t++] = source[s++] as number;
  }
  return t;
}

/** Writes a match of at least four bytes. Returns its end, or 0 if it does not fit. */
function writeMatch(
  target: Uint8Array,
  start: number,
  targetEnd: number,
  distance: number,
  length: number,
): number {
  let t = start;
  const code = length - MIN_MATCH + 1;
  if (t + 5 + code / 255 > targetEnd) return 0;
  const reach = Math.min(distance - 1, NEAR);
  target[t++] = (Math.min(code, 7) << 5) | (reach >>> 8);
  if (code >= 7) {
    let rest = code - 7;
    for (; rest >= 255; rest -= 255) target[t++] = 255;
    target[t++] = rest;
  }
  target[t++] = reach;
  if (reach === NEAR) {
    const far = distance - 1 - NEAR;
    target[t++] = far >>> 8;
    target[t++] = far;
  }
  return t;
}
