import { builtin } from "./platform.node.ts";

/** An incremental hash. */
export interface Hash {
  update(bytes: Uint8Array | string): Hash;
  digest(): Uint8Array;
}

/**
 * Returns a factory of SHA-256 hashes: Node's, or our own, which is slower, where Node's is unavailable.
 */
export async function hasher(): Promise<() => Hash> {
  const crypto = builtin("node:crypto");
  if (crypto) return () => crypto.createHash("sha256");
  const { Sha256 } = await import("./sha256.ts");
  return () => new Sha256();
}

/** A 96-bit hash in three words. It is not cryptographic: collisions can be constructed. */
type Words = readonly [number, number, number];

/** A 96-bit hash of a text, as 24 hexadecimal digits. */
export function textHash(text: string): string {
  return hexOf(hashWords(text));
}

function hexOf(words: readonly number[]): string {
  return words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Mixes every character into each word by multiplication and rotation, as MurmurHash3 does. */
function hashWords(text: string): Words {
  let [a, b, c] = [0x9e3779b9, 0x85ebca6b, 0x165667b1];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = rotated(Math.imul(a ^ unit, 0xcc9e2d51), 15);
    b = rotated(Math.imul(b ^ Math.imul(unit + 1, 0x1b873593), 0xc2b2ae35), 13);
    c = rotated(Math.imul(c + unit, 0x27d4eb2f) ^ a, 17);
  }
  return [mixed(a ^ text.length), mixed(b ^ a), mixed(c ^ b)];
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Lets every bit affect about half of the others (MurmurHash3's finalizer). */
function mixed(word: number): number {
  let mixing = word ^ (word >>> 16);
  mixing = Math.imul(mixing, 0x85ebca6b);
  mixing ^= mixing >>> 13;
  mixing = Math.imul(mixing, 0xc2b2ae35);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}

/**
 * A hash of texts in any order: two sums are equal if the same texts were added to them, each the same number of times.
 */
export class TextHashSum {
  readonly #words = new Uint32Array(3);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(text: string): void {
    this.#count++;
    hashWords(text).forEach((word, i) => {
      this.#words[i] = (this.#words[i] ?? 0) + word;
    });
  }

  toString(): string {
    return hexOf([...this.#words]);
  }
}

const WORDS = 3;
const FIRST_SLOTS = 64;

/** A set of texts that stores only 96 bits of each: 12 to 48 bytes per text, whatever its length. */
export class TextHashSet {
  /** An empty slot begins with 0. */
  #slots = new Uint32Array(WORDS * FIRST_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(text: string): boolean {
    return this.#slots[this.#placeOf(slotWords(text))] !== 0;
  }

  add(text: string): void {
    const words = slotWords(text);
    const place = this.#placeOf(words);
    if (this.#slots[place] !== 0) return;
    this.#slots.set(words, place);
    this.#size++;
    if (2 * WORDS * this.#size > this.#slots.length) this.#grow();
  }

  /** Position of the words, or of their future slot. */
  #placeOf([a, b, c]: Words): number {
    const slots = this.#slots;
    for (let place = WORDS * (c % (slots.length / WORDS)); ; place = (place + WORDS) % slots.length) {
      if (slots[place] === 0) return place;
      if (slots[place] === a && slots[place + 1] === b && slots[place + 2] === c) return place;
    }
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Uint32Array(2 * before.length);
    for (let at = 0; at < before.length; at += WORDS) {
      const [a = 0, b = 0, c = 0] = before.subarray(at, at + WORDS);
      if (a !== 0) this.#slots.set([a, b, c], this.#placeOf([a, b, c]));
    }
  }
}

function slotWords(text: string): Words {
  const [a, b, c] = hashWords(text);
  return [a || 1, b, c];
}
