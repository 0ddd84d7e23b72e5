const BLOCK = 64;

/** Incremental SHA-256, which the digests of browsers lack. @see FIPS 180-4, 6.2 */
export class Sha256 {
  readonly #state = fractions(8, 1 / 2);
  readonly #words = new Int32Array(BLOCK);
  readonly #block = new Uint8Array(BLOCK);
  readonly #view = new DataView(this.#block.buffer);
  #length = 0;

  update(data: Uint8Array | string): this {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
    let used = this.#length % BLOCK;
    for (let at = 0; at < bytes.length; used = 0) {
      const part = bytes.subarray(at, at + BLOCK - used);
      this.#block.set(part, used);
      at += part.length;
      if (used + part.length === BLOCK) this.#compress();
    }
    this.#length += bytes.length;
    return this;
  }

  digest(): Uint8Array {
    const bits = BigInt(this.#length) * 8n;
    const rest = this.#length % BLOCK;
    this.update(new Uint8Array((rest < 56 ? 56 : 56 + BLOCK) - rest).fill(0x80, 0, 1));
    this.#view.setBigUint64(56, bits);
    this.#compress();
    const digest = new DataView(new ArrayBuffer(32));
    this.#state.forEach((word, i) => {
      digest.setInt32(4 * i, word);
    });
    return new Uint8Array(digest.buffer);
  }

  #compress(): void {
    const words = this.#words;
    const state = this.#state;
    const at = (i: number) => words[i] ?? 0;
    for (let i = 0; i < 16; i++) words[i] = this.#view.getInt32(4 * i);
    for (let i = 16; i < BLOCK; i++) {
      const early = at(i - 15);
      const late = at(i - 2);
      const s0 = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
      const s1 = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
      words[i] = (at(i - 16) + s0 + at(i - 7) + s1) | 0;
    }
    constants ??= fractions(BLOCK, 1 / 3);
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < BLOCK; i++) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (constants[i] ?? 0) + at(i)) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = (state[i] ?? 0) + word;
    });
  }
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

let constants: Int32Array | undefined;

/** The first 32 fractional bits of the roots of the first primes. */
function fractions(count: number, power: number): Int32Array {
  const found = new Int32Array(count);
  for (let n = 2, i = 0; i < count; n++) {
    if (isPrime(n)) found[i++] = (n ** power % 1) * 2 ** 32;
  }
  return found;
}

function isPrime(n: number): boolean {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
  return true;
}
