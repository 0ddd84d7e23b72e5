import { wordsOf } from "./words.ts";

/** The most words whose sums stay below 2^32. */
const RUN = 360;

/** Fletcher-32 as in HDF5: over big-endian 16-bit words, an odd last byte being the high half of one. */
export function fletcher32(bytes: Uint8Array): number {
  const words = wordsOf(bytes);
  const whole = bytes.length - (bytes.length % 2);
  let a = 0;
  let b = 0;
  for (let i = 0; i < whole; ) {
    for (const end = Math.min(i + 2 * RUN, whole); i < end; i += 2) {
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
