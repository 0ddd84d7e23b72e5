import { wordView } from "./swap-bytes.ts";

/** The most words whose sums stay below 2^32. */
const FLETCHER_RUN = 360;

/** Fletcher-32 as in HDF5: over big-endian 16-bit words; an odd last byte is the high half of a word. */
export function fletcher32(bytes: Uint8Array): number {
  const words = wordView(bytes);
  const whole = bytes.length - (bytes.length % 2);
  let a = 0;
  let b = 0;
  for (let i = 0; i < whole; ) {
    for (const end = Math.min(i + 2 * FLETCHER_RUN, whole); i < end; i += 2) {
      a += words.getUint16(i, false);
      b += a;
    }
    a = fold(a);
    b = fold(b);
  }
  if (whole < bytes.length) {
    a += words.getUint8(whole) << 8;
    b += a;
    a = fold(a);
    b = fold(b);
  }
  return ((fold(b) << 16) | fold(a)) >>> 0;
}

function fold(sum: number): number {
  return (sum & 0xffff) + (sum >>> 16);
}

const ROUND = 12;

/** Bob Jenkins' lookup3 (`hashlittle`) as in HDF5. */
export function lookup3(bytes: Uint8Array, initial: number): number {
  const { length } = bytes;
  const start = (0xdeadbeef + length + initial) | 0;
  if (length === 0) return start >>> 0;

  // The last round, possibly a complete one, is handled below.
  const last = Math.floor((length - 1) / ROUND) * ROUND;
  const words = wordView(bytes);
  let a = start;
  let b = start;
  let c = start;
  for (let i = 0; i < last; i += ROUND) {
    a = (a + words.getInt32(i, true)) | 0;
    b = (b + words.getInt32(i + 4, true)) | 0;
    c = (c + words.getInt32(i + 8, true)) | 0;
    a = (a - c) ^ rotate(c, 4);
    c = (c + b) | 0;
    b = (b - a) ^ rotate(a, 6);
    a = (a + c) | 0;
    c = (c - b) ^ rotate(b, 8);
    b = (b + a) | 0;
    a = (a - c) ^ rotate(c, 16);
    c = (c + b) | 0;
    b = (b - a) ^ rotate(a, 19);
    a = (a + c) | 0;
    c = (c - b) ^ rotate(b, 4);
    b = (b + a) | 0;
  }

  const tail = new Uint8Array(ROUND);
  tail.set(bytes.subarray(last));
  const rest = wordView(tail);
  a = (a + rest.getInt32(0, true)) | 0;
  b = (b + rest.getInt32(4, true)) | 0;
  c = (c + rest.getInt32(8, true)) | 0;
  c = ((c ^ b) - rotate(b, 14)) | 0;
  a = ((a ^ c) - rotate(c, 11)) | 0;
  b = ((b ^ a) - rotate(a, 25)) | 0;
  c = ((c ^ b) - rotate(b, 16)) | 0;
  a = ((a ^ c) - rotate(c, 4)) | 0;
  b = ((b ^ a) - rotate(a, 14)) | 0;
  c = ((c ^ b) - rotate(b, 24)) | 0;
  return c >>> 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
