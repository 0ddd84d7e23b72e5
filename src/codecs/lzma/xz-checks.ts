import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";

/** CRC of each byte followed by 0 to 3 zero bytes, at index `256 * zeros + byte`; low half and high half. */
const low = new Int32Array(4 * 256);
const high = new Int32Array(4 * 256);
for (let slot = 0; slot < low.length; slot++) {
  let l = slot < 256 ? slot : (low[slot - 256] as number);
  let h = slot < 256 ? 0 : (high[slot - 256] as number);
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = (l & 1) === 1;
    l = (l >>> 1) | (h << 31);
    h >>>= 1;
    if (isOdd) [l, h] = [l ^ 0xd787_0f42, h ^ 0xc96c_5795];
  }
  low[slot] = l;
  high[slot] = h;
}

/** CRC-64 as in xz (ECMA-182, reflected), four bytes per step; returns eight bytes, little-endian. */
export function crc64(bytes: Uint8Array): Uint8Array {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let l = -1;
  let h = -1;
  let i = 0;
  for (const end = bytes.length - 3; i < end; i += 4) {
    const word = l ^ words.getInt32(i, true);
    const a = 768 | (word & 0xff);
    const b = 512 | ((word >>> 8) & 0xff);
    const c = 256 | ((word >>> 16) & 0xff);
    const d = word >>> 24;
    l = h ^ (low[a] as number) ^ (low[b] as number) ^ (low[c] as number) ^ (low[d] as number);
    h = (high[a] as number) ^ (high[b] as number) ^ (high[c] as number) ^ (high[d] as number);
  }
  for (; i < bytes.length; i++) {
    const slot = (l ^ (bytes[i] as number)) & 0xff;
    l = ((l >>> 8) | (h << 24)) ^ (low[slot] as number);
    h = (h >>> 8) ^ (high[slot] as number);
  }
  const sum = new DataView(new ArrayBuffer(8));
  sum.setInt32(0, ~l, true);
  sum.setInt32(4, ~h, true);
  return new Uint8Array(sum.buffer);
}

const BLOCK = 64;
const ROUNDS = 64;

const primes: number[] = [];
for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);

/** The first 32 bits of the fractional part. */
const fraction = (x: number) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
const initial = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));

/**
 * Computes SHA-256 synchronously; the Web API returns a promise.
 *
 * @see FIPS 180-4
 */
export function sha256(bytes: Uint8Array): Uint8Array {
  const hash = initial.slice();
  const schedule = new Int32Array(ROUNDS);
  const whole = bytes.length - (bytes.length % BLOCK);
  mix(hash, schedule, bytes.subarray(0, whole));
  mix(hash, schedule, lastBlocks(bytes.subarray(whole), bytes.length));
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, word] of hash.entries()) digest.setInt32(4 * i, word);
  return new Uint8Array(digest.buffer);
}

/** The remaining bytes, a one bit, zeros, and the length in bits. */
function lastBlocks(rest: Uint8Array, length: number): Uint8Array {
  const last = new Uint8Array(rest.length + 9 <= BLOCK ? BLOCK : 2 * BLOCK);
  last.set(rest);
  last[rest.length] = 0x80;
  const words = new DataView(last.buffer);
  words.setUint32(last.length - 8, Math.floor(length / 2 ** 29));
  words.setUint32(last.length - 4, length << 3);
  return last;
}

/** Mixes whole blocks into the hash. */
function mix(hash: Int32Array, schedule: Int32Array, blocks: Uint8Array): void {
  const words = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  for (let start = 0; start < blocks.length; start += BLOCK) {
    for (let i = 0; i < 16; i++) schedule[i] = words.getInt32(start + 4 * i);
    for (let i = 16; i < ROUNDS; i++) {
      const near = schedule[i - 2] as number;
      const far = schedule[i - 15] as number;
      const a = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3);
      const b = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10);
      schedule[i] = (schedule[i - 16] as number) + a + (schedule[i - 7] as number) + b;
    }
    let a = hash[0] as number;
    let b = hash[1] as number;
    let c = hash[2] as number;
    let d = hash[3] as number;
    let e = hash[4] as number;
    let f = hash[5] as number;
    let g = hash[6] as number;
    let h = hash[7] as number;
    for (let i = 0; i < ROUNDS; i++) {
      const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const one = (h + mixed + ((e & f) ^ (~e & g)) + (constants[i] as number) + (schedule[i] as number)) | 0;
      const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    hash[0] = (hash[0] as number) + a;
    hash[1] = (hash[1] as number) + b;
    hash[2] = (hash[2] as number) + c;
    hash[3] = (hash[3] as number) + d;
    hash[4] = (hash[4] as number) + e;
    hash[5] = (hash[5] as number) + f;
    hash[6] = (hash[6] as number) + g;
    hash[7] = (hash[7] as number) + h;
  }
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** A check of the decoded bytes that xz stores for each block. */
export interface XzCheck {
  /** Its number in the flags of the stream. */
  readonly id: number;
  readonly name: string;
  /** Bytes of the stored check. */
  readonly size: number;
  readonly of: (bytes: Uint8Array) => Uint8Array;
}

export const DEFAULT_CHECK = 4;

const checks: readonly XzCheck[] = [
  { id: 0, name: "none", size: 0, of: () => new Uint8Array(0) },
  { id: 1, name: "CRC-32", size: 4, of: crc32Bytes },
  { id: 4, name: "CRC-64", size: 8, of: crc64 },
  { id: 10, name: "SHA-256", size: 32, of: sha256 },
];

/** @throws `codec-error` if there is no check with this number. */
export function xzCheck(id: number): XzCheck {
  const check = checks.find((one) => one.id === id);
  if (check) return check;
  throw new ZarrflowError("codec-error", "the xz check has an unknown type", {
    expected: checks.map((one) => `${one.id} (${one.name})`).join(", "),
    found: id,
  });
}

function crc32Bytes(bytes: Uint8Array): Uint8Array {
  const sum = new Uint8Array(4);
  new DataView(sum.buffer).setUint32(0, crc32(bytes), true);
  return sum;
}
