const MODEL_BITS = 11;
const MODEL_TOTAL = 1 << MODEL_BITS;
const MOVE_BITS = 5;
const TOP = 2 ** 24;
const CARRY = 2 ** 32;
const FLUSH_BYTES = 5;

/** Encodes bits by their probabilities. Counts bytes that do not fit in the target, but drops them. */
export class RangeEncoder {
  readonly #target: Uint8Array;
  #position: number;
  /** Up to 33 bits: the highest is a carry into the bytes held back. */
  #low = 0;
  #range = CARRY - 1;
  #held = 0;
  #heldCount = 1;

  constructor(target: Uint8Array, position: number) {
    this.#target = target;
    this.#position = position;
  }

  /** End of the output if the encoder finished now. */
  get end(): number {
    return this.#position + this.#heldCount + FLUSH_BYTES - 1;
  }

  /** @returns the end of the written bytes. */
  finish(): number {
    for (let i = 0; i < FLUSH_BYTES; i++) this.#shift();
    return this.#position;
  }

  bit(probabilities: Uint16Array, index: number, bit: number): void {
    const probability = probabilities[index] as number;
    const bound = (this.#range >>> MODEL_BITS) * probability;
    if (bit === 0) {
      probabilities[index] = probability + ((MODEL_TOTAL - probability) >>> MOVE_BITS);
      this.#range = bound;
    } else {
      probabilities[index] = probability - (probability >>> MOVE_BITS);
      this.#low += bound;
      this.#range -= bound;
    }
    if (this.#range < TOP) this.#scale();
  }

  /** Writes a number of `size` bits with a tree at `offset`, the highest bit first. */
  tree(probabilities: Uint16Array, offset: number, size: number, number: number): void {
    let node = 1;
    for (let i = size - 1; i >= 0; i--) {
      const bit = (number >>> i) & 1;
      this.bit(probabilities, offset + node, bit);
      node = (node << 1) | bit;
    }
  }

  /** Writes a number of `size` bits with a tree whose root is at `offset + 1`, the lowest bit first. */
  reverseTree(probabilities: Uint16Array, offset: number, size: number, number: number): void {
    let node = 1;
    for (let i = 0; i < size; i++) {
      const bit = (number >>> i) & 1;
      this.bit(probabilities, offset + node, bit);
      node = (node << 1) | bit;
    }
  }

  /** Writes a byte directly after a match. As long as its bits equal those of `expected`, it uses separate trees. */
  literalAfterMatch(probabilities: Uint16Array, offset: number, expected: number, byte: number): void {
    let branch = 256;
    let node = 1;
    for (let i = 7; i >= 0; i--) {
      const wanted = (expected >>> i) & 1;
      const bit = (byte >>> i) & 1;
      this.bit(probabilities, offset + branch + (wanted === 1 ? branch : 0) + node, bit);
      node = (node << 1) | bit;
      if (wanted !== bit) branch = 0;
    }
  }

  /** Writes a number of `size` bits that are equally likely 0 or 1. */
  direct(size: number, number: number): void {
    for (let i = size - 1; i >= 0; i--) {
      this.#range >>>= 1;
      if ((number >>> i) & 1) this.#low += this.#range;
      if (this.#range < TOP) this.#scale();
    }
  }

  #scale(): void {
    this.#range = (this.#range << 8) >>> 0;
    this.#shift();
  }

  /** Moves the highest byte out. Bytes of all ones are held back, because a carry may still come. */
  #shift(): void {
    if (this.#low < 0xff00_0000 || this.#low >= CARRY) {
      const carry = this.#low >= CARRY ? 1 : 0;
      this.#target[this.#position++] = this.#held + carry;
      for (; this.#heldCount > 1; this.#heldCount--) this.#target[this.#position++] = 0xff + carry;
      this.#heldCount = 0;
      this.#held = (this.#low >>> 24) & 0xff;
    }
    this.#heldCount++;
    this.#low = (this.#low & 0x00ff_ffff) * 256;
  }
}
