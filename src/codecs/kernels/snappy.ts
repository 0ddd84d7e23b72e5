import { copyLiterals, copyMatch, lastPlaces, matchLength, raiseBase, slotOf } from "./lz-blocks.ts";
import { wordView } from "./swap-bytes.ts";

/**
 * Raw Snappy: the decoded size as a varint, then elements. The two low tag bits select their kind: literals, or copies
 * with a distance of one byte (plus three bits of the tag), two or four bytes.
 */

const MIN_MATCH = 4;
/** The most bytes of one copy element, and the longest distance in two bytes. */
const MAX_COPY = 64;
const MAX_DISTANCE = 65_535;

/**
 * Decodes `source[start, end)` into `target[targetStart, targetEnd)`. May overwrite bytes of that range after the
 * result, but nothing outside it.
 *
 * @returns the bytes written, or -1 if the stream is broken or decodes to more than the range holds.
 */
export function snappyDecode(
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
  let size = 0;
  for (let shift = 1, more = 128; more >= 128; shift *= 128) {
    if (s === end || s - start === 5) return -1;
    more = words.getUint8(s++);
    size += (more & 127) * shift;
  }
  if (size > targetEnd - targetStart) return -1;
  const sizeEnd = targetStart + size;
  let t = targetStart;

  while (s < end) {
    const tag = words.getUint8(s++);
    const kind = tag & 3;
    let length = (tag >>> 2) + 1;
    if (kind === 0) {
      if (length > 60) {
        const bytes = length - 60;
        if (bytes > end - s) return -1;
        length = littleEndian(words, s, bytes) + 1;
        s += bytes;
      }
      if (length > end - s || length > sizeEnd - t) return -1;
      copyLiterals(source, words, s, target, out, t, length, sizeEnd);
      s += length;
      t += length;
      continue;
    }
    const bytes = kind === 3 ? 4 : kind;
    if (bytes > end - s) return -1;
    let distance = littleEndian(words, s, bytes);
    s += bytes;
    if (kind === 1) {
      distance += (tag >>> 5) << 8;
      length = ((tag >>> 2) & 7) + MIN_MATCH;
    }
    if (distance === 0 || distance > t - targetStart || length > sizeEnd - t) return -1;
    copyMatch(target, out, t, distance, length, sizeEnd);
    t += length;
  }
  return t === sizeEnd ? size : -1;
}

/**
 * Encodes `source[start, end)` into `target[targetStart, targetEnd)`.
 *
 * @returns the bytes written, or 0 if they do not fit.
 */
export function snappyEncode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
): number {
  const words = wordView(source);
  const shift = raiseBase(end - start) - start;
  const searchEnd = end - MIN_MATCH;
  let t = targetStart;
  if (targetEnd - t < 5) return 0;
  let size = end - start;
  for (; size >= 128; size = Math.floor(size / 128)) target[t++] = (size & 127) | 128;
  target[t++] = size;
  let anchor = start;
  let s = start;

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
    const next = s + MIN_MATCH + matchLength(words, s + MIN_MATCH, distance, end);

    t = writeLiterals(source, anchor, s, target, t, targetEnd);
    if (t === 0 || t + 3 * Math.ceil((next - s) / MAX_COPY) > targetEnd) return 0;
    for (let rest = next - s; rest > 0; rest -= MAX_COPY) {
      target[t] = ((Math.min(rest, MAX_COPY) - 1) << 2) | 2;
      target[t + 1] = distance;
      target[t + 2] = distance >>> 8;
      t += 3;
    }
    s = next;
    anchor = next;
  }
  t = writeLiterals(source, anchor, end, target, t, targetEnd);
  return t === 0 ? 0 : t - targetStart;
}

/** Writes one literal element. Returns its end, or 0 if it does not fit. */
function writeLiterals(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
): number {
  const length = end - start;
  let t = targetStart;
  if (length === 0) return t;
  if (t + 5 + length > targetEnd) return 0;
  const last = length - 1;
  if (last < 60) target[t++] = last << 2;
  else {
    const bytes = (32 - Math.clz32(last) + 7) >>> 3;
    target[t++] = (59 + bytes) << 2;
    for (let b = 0; b < bytes; b++) target[t++] = last >>> (8 * b);
  }
  target.set(source.subarray(start, end), t);
  return t + length;
}

function littleEndian(words: DataView, start: number, bytes: number): number {
  let value = 0;
  for (let b = bytes - 1; b >= 0; b--) value = value * 256 + words.getUint8(start + b);
  return value;
}
