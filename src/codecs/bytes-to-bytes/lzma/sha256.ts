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
