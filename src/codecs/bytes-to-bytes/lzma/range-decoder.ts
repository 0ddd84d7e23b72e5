import { corrupt } from "../../failures.ts";

const MODEL_BITS = 11;
const MODEL_TOTAL = 1 << MODEL_BITS;
const MOVE_BITS = 5;
const TOP = 0xff00_0000;

/**
 * Decodes bits by their probabilities. Range and code are unsigned 32-bit numbers stored as signed ones, which engines
 * keep unboxed. Reads zeros beyond the end of the source; `isPastEnd` reports it.
 */
export class RangeDecoder {
  readonly #source: Uint8Array;
  readonly #end: number;
  #position: number;
  #range = -1;
  #code = 0;

  /**
   * Starts at `source[position]`.
   *
   * @throws `corrupt-chunk` if no coded data start there.
   */
  constructor(source: Uint8Array, position: number, end: number) {
    this.#source = source;
    this.#end = Math.min(end, source.length);
    if (this.#end - position < 5) throw corrupt("the LZMA data are truncated");
    if (source[position] !== 0) throw corrupt("the LZMA data do not start with a zero");
    for (let i = 1; i < 5; i++) this.#code = (this.#code << 8) | (source[position + i] as number);
    this.#position = position + 5;
  }

  /** Position of the next byte to take. */
  get position(): number {
    return this.#position;
  }

  get isPastEnd(): boolean {
    return this.#position > this.#end;
  }

  /** True if the encoder may have ended here. */
  get isFinished(): boolean {
    return this.#code === 0;
  }

  /** Reads a bit with the probability at `index`. */
  bit(probabilities: Uint16Array, index: number): 0 | 1 {
    const probability = probabilities[index] as number;
    const bound = Math.imul(this.#range >>> MODEL_BITS, probability);
    if (this.#code >>> 0 < bound >>> 0) {
      probabilities[index] = probability + ((MODEL_TOTAL - probability) >>> MOVE_BITS);
      this.#range = bound;
      if ((bound & TOP) === 0) this.#shift();
      return 0;
    }
    probabilities[index] = probability - (probability >>> MOVE_BITS);
    this.#range = (this.#range - bound) | 0;
    this.#code = (this.#code - bound) | 0;
    if ((this.#range & TOP) === 0) this.#shift();
    return 1;
  }

  #shift(): void {
    this.#range <<= 8;
    this.#code = (this.#code << 8) | (this.#source[this.#position++] as number);
  }

  /** Reads a number of `size` bits with a tree at `offset`, the highest bit first. */
  tree(probabilities: Uint16Array, offset: number, size: number): number {
    const leaf = 1 << size;
    return this.#walk(probabilities, offset, leaf, 0, 0) - leaf;
  }

  /** Reads a byte with the literal tree at `offset`. */
  literal(probabilities: Uint16Array, offset: number): number {
    return this.#walk(probabilities, offset, 256, 0, 0) & 0xff;
  }

  /** Reads a byte directly after a match. As long as its bits equal those of `expected`, it uses separate trees. */
  literalAfterMatch(probabilities: Uint16Array, offset: number, expected: number): number {
    return this.#walk(probabilities, offset, 256, expected, 256) & 0xff;
  }

  /** Walks down a tree from its root until a node is `leaf` or more. */
  #walk(probabilities: Uint16Array, offset: number, leaf: number, expected: number, own: number): number {
    const source = this.#source;
    let position = this.#position;
    let range = this.#range;
    let code = this.#code;
    let rest = expected;
    let branch = own;
    let node = 1;
    do {
      rest <<= 1;
      const wanted = rest & branch;
      const index = offset + branch + wanted + node;
      const probability = probabilities[index] as number;
      const bound = Math.imul(range >>> MODEL_BITS, probability);
      if (code >>> 0 < bound >>> 0) {
        probabilities[index] = probability + ((MODEL_TOTAL - probability) >>> MOVE_BITS);
        range = bound;
        node <<= 1;
        branch ^= wanted;
      } else {
        probabilities[index] = probability - (probability >>> MOVE_BITS);
        range = (range - bound) | 0;
        code = (code - bound) | 0;
        node = (node << 1) | 1;
        branch = wanted;
      }
      if ((range & TOP) === 0) {
        range <<= 8;
        code = (code << 8) | (source[position++] as number);
      }
    } while (node < leaf);
    this.#position = position;
    this.#range = range;
    this.#code = code;
    return node;
  }

  /** Reads a number of `size` bits with a tree whose root is at `offset + 1`, the lowest bit first. */
  reverseTree(probabilities: Uint16Array, offset: number, size: number): number {
    let node = 1;
    let number = 0;
    for (let i = 0; i < size; i++) {
      const bit = this.bit(probabilities, offset + node);
      node = (node << 1) | bit;
      number |= bit << i;
    }
    return number;
  }

  /** Reads a number of `size` bits that are equally likely 0 or 1. */
  direct(size: number): number {
    let number = 0;
    for (let i = 0; i < size; i++) {
      this.#range >>>= 1;
      const isOne = this.#code >>> 0 >= this.#range >>> 0;
      if (isOne) this.#code = (this.#code - this.#range) | 0;
      number = (number << 1) | (isOne ? 1 : 0);
      if ((this.#range & TOP) === 0) this.#shift();
    }
    return number;
  }
}
