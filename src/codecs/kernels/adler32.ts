const ADLER_MODULUS = 65_521;

/** The most bytes whose sums stay below 2^32. */
const ADLER_RUN = 5552;

/** Adler-32 as in zlib (RFC 1950). */
export function adler32(bytes: Uint8Array): number {
  let a = 1;
  let b = 0;
  for (let i = 0; i < bytes.length; ) {
    for (const end = Math.min(i + ADLER_RUN, bytes.length); i < end; i++) {
      a += bytes[i] as number;
      b += a;
    }
    a %= ADLER_MODULUS;
    b %= ADLER_MODULUS;
  }
  return ((b << 16) | a) >>> 0;
}
