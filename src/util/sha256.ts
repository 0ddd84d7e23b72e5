const BLOCK = 64;
const ROUNDS = 64;

/**
 * Incremental SHA-256: digests of browsers take all bytes at once, and return a promise.
 *
 * @see FIPS 180-4, 6.2
 */
export class Sha256 {
  readonly #hash = fractions(8, Math.sqrt);
  readonly #schedule = new Int32Array(ROUNDS);
  /** The bytes after the last whole block. */
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(data: Uint8Array | string): this {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const used = this.#length % BLOCK;
    this.#length += bytes.length;
    const begun = used === 0 ? 0 : Math.min(BLOCK - used, bytes.length);
    this.#rest.set(bytes.subarray(0, begun), used);
    if (used + begun === BLOCK) this.#mix(this.#rest);
    else if (begun > 0) return this;
    const end = bytes.length - ((bytes.length - begun) % BLOCK);
    this.#mix(bytes.subarray(begun, end));
    this.#rest.set(bytes.subarray(end));
    return this;
  }

  digest(): Uint8Array<ArrayBuffer> {
    const used = this.#length % BLOCK;
    const last = new Uint8Array(used + 9 <= BLOCK ? BLOCK : 2 * BLOCK);
    last.set(this.#rest.subarray(0, used));
    last[used] = 0x80;
    new DataView(last.buffer).setBigUint64(last.length - 8, BigInt(this.#length) * 8n);
    this.#mix(last);
    const digest = new DataView(new ArrayBuffer(32));
    for (const [i, word] of this.#hash.entries()) digest.setInt32(4 * i, word);
    return new Uint8Array(digest.buffer);
  }

  /** Mixes whole blocks into the hash. */
  #mix(blocks: Uint8Array): void {
    constants ??= fractions(ROUNDS, Math.cbrt);
    mix(this.#hash, this.#schedule, blocks, constants);
  }
}

function mix(hash: Int32Array, schedule: Int32Array, blocks: Uint8Array, constants: Int32Array): void {
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

let constants: Int32Array | undefined;

/** The first 32 fractional bits of the roots of the first primes. */
function fractions(count: number, root: (x: number) => number): Int32Array {
  const found = new Int32Array(count);
  for (let n = 2, i = 0; i < count; n++) {
    if (isPrime(n)) found[i++] = (root(n) % 1) * 2 ** 32;
  }
  return found;
}

function isPrime(n: number): boolean {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
  return true;
}
