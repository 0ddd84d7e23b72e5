import type { ZarrflowError } from "../../util/errors.ts";
import { corrupt } from "../limits.ts";
import * as model from "./model.ts";

/** For copies shorter than this a loop is faster than a call. */
const SHORT_COPY = 24;

/**
 * The LZMA decoder and its state. Its dictionary is the decoded data in the target, from `dictionaryStart` on, so that
 * it never allocates the dictionary size stated in a header.
 */
export class LzmaDecoder {
  readonly #target: Uint8Array;
  #properties: model.LzmaProperties = { lc: 0, lp: 0, pb: 0 };
  #probabilities: Uint16Array = new Uint16Array(0);
  #state = 0;
  /** The last four distances, minus one. */
  #rep0 = 0;
  #rep1 = 0;
  #rep2 = 0;
  #rep3 = 0;
  /** Matches cannot start before this position. */
  dictionaryStart = 0;
  /** True after the end marker has been read. */
  hasEnded = false;

  constructor(target: Uint8Array) {
    this.#target = target;
  }

  /** Resets the state, with new properties if given; keeps the dictionary. */
  reset(properties = this.#properties): void {
    const size = model.probabilityCount(properties);
    if (this.#probabilities.length !== size) this.#probabilities = new Uint16Array(size);
    this.#probabilities.fill(model.EVEN);
    this.#properties = properties;
    this.#state = 0;
    this.#rep0 = this.#rep1 = this.#rep2 = this.#rep3 = 0;
    this.hasEnded = false;
  }

  /**
   * Decodes into the target from `start` on, up to `end` or to the end marker.
   *
   * @param beyond creates the error for a match that extends beyond `end`.
   * @returns the end of the decoded bytes.
   * @throws `corrupt-chunk`
   */
  decode(range: RangeDecoder, start: number, end: number, beyond: () => ZarrflowError): number {
    const target = this.#target;
    const probabilities = this.#probabilities;
    const { lc, lp, pb } = this.#properties;
    const { dictionaryStart } = this;
    const positionMask = (1 << pb) - 1;
    const literalMask = (1 << lp) - 1;
    let state = this.#state;
    let t = start;

    while (t < end) {
      if (range.isPastEnd) throw corrupt("the LZMA data is truncated");
      const position = (t - dictionaryStart) & positionMask;
      if (range.bit(probabilities, model.IS_MATCH + (state << 4) + position) === 0) {
        const before = t > dictionaryStart ? (target[t - 1] as number) : 0;
        const context = (((t - dictionaryStart) & literalMask) << lc) + (before >>> (8 - lc));
        const offset = model.LITERALS + model.LITERAL_SIZE * context;
        if (state < model.LITERAL_STATES) {
          target[t] = range.literal(probabilities, offset);
        } else {
          target[t] = range.literalAfterMatch(probabilities, offset, target[t - this.#rep0 - 1] as number);
        }
        t++;
        state = model.stateAfterLiteral(state);
        continue;
      }

      this.#state = state;
      const length = this.#readMatch(range, position);
      state = this.#state;
      if (this.hasEnded) break;
      if (this.#rep0 >>> 0 >= t - dictionaryStart) throw corrupt("an LZMA match starts before the data");
      if (length > end - t) throw range.isPastEnd ? corrupt("the LZMA data is truncated") : beyond();
      copyBack(target, t, this.#rep0 + 1, length);
      t += length;
    }
    this.#state = state;
    if (range.isPastEnd) throw corrupt("the LZMA data is truncated");
    return t;
  }

  /** Reads the next symbol, at `position` of the target, and returns true if it is the end marker. */
  takeEnd(range: RangeDecoder, position: number): boolean {
    const place = (position - this.dictionaryStart) & ((1 << this.#properties.pb) - 1);
    const isMatch = range.bit(this.#probabilities, model.IS_MATCH + (this.#state << 4) + place);
    if (isMatch === 1) this.#readMatch(range, place);
    if (range.isPastEnd) throw corrupt("the LZMA data is truncated");
    return this.hasEnded;
  }

  /**
   * Reads a match or a repeated match and updates the last distances.
   *
   * @returns the length of the match.
   */
  #readMatch(range: RangeDecoder, position: number): number {
    const probabilities = this.#probabilities;
    const state = this.#state;
    if (range.bit(probabilities, model.IS_REP + state) === 0) {
      const length = this.#readLength(range, model.MATCH_LENGTHS, position);
      this.#rep3 = this.#rep2;
      this.#rep2 = this.#rep1;
      this.#rep1 = this.#rep0;
      this.#rep0 = this.#readDistance(range, length);
      this.hasEnded = this.#rep0 === model.END_MARKER;
      this.#state = model.stateAfterMatch(state);
      return length;
    }
    if (range.bit(probabilities, model.IS_REP_0 + state) === 0) {
      if (range.bit(probabilities, model.IS_LONG_REP_0 + (state << 4) + position) === 0) {
        this.#state = model.stateAfterShortRep(state);
        return 1;
      }
    } else {
      const distance = this.#rep1;
      if (range.bit(probabilities, model.IS_REP_1 + state) === 1) {
        this.#takeOlder(range);
      } else {
        this.#rep1 = this.#rep0;
        this.#rep0 = distance;
      }
    }
    this.#state = model.stateAfterRep(state);
    return this.#readLength(range, model.REP_LENGTHS, position);
  }

  #takeOlder(range: RangeDecoder): void {
    let distance = this.#rep2;
    if (range.bit(this.#probabilities, model.IS_REP_2 + this.#state) === 1) {
      distance = this.#rep3;
      this.#rep3 = this.#rep2;
    }
    this.#rep2 = this.#rep1;
    this.#rep1 = this.#rep0;
    this.#rep0 = distance;
  }

  #readLength(range: RangeDecoder, offset: number, position: number): number {
    const probabilities = this.#probabilities;
    if (range.bit(probabilities, offset) === 0) {
      return model.MIN_MATCH + range.tree(probabilities, offset + model.LENGTH_LOW + (position << 3), 3);
    }
    if (range.bit(probabilities, offset + model.LENGTH_CHOICE_2) === 0) {
      return (
        model.MIN_MATCH + 8 + range.tree(probabilities, offset + model.LENGTH_MIDDLE + (position << 3), 3)
      );
    }
    return model.MIN_MATCH + 16 + range.tree(probabilities, offset + model.LENGTH_HIGH, 8);
  }

  /** Reads a distance, minus one: its slot states the two highest bits and the number of bits. */
  #readDistance(range: RangeDecoder, length: number): number {
    const probabilities = this.#probabilities;
    const kind = Math.min(length - model.MIN_MATCH, 3);
    const slot = range.tree(probabilities, model.SLOTS + (kind << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    if (slot < model.FAR_SLOT) {
      return base + range.reverseTree(probabilities, model.NEAR + base - slot, bits);
    }
    const high = range.direct(bits - model.ALIGN_BITS) << model.ALIGN_BITS;
    return (base + high + range.reverseTree(probabilities, model.ALIGN, model.ALIGN_BITS)) | 0;
  }
}

/** Copies the bytes `distance` back; they repeat if `distance` is below `length`. */
function copyBack(target: Uint8Array, at: number, distance: number, length: number): void {
  if (length < SHORT_COPY) {
    for (let i = at, end = at + length; i < end; i++) target[i] = target[i - distance] as number;
    return;
  }
  if (distance === 1) {
    target.fill(target[at - 1] as number, at, at + length);
    return;
  }
  // Each round doubles the bytes that can be copied at once.
  for (let done = 0; done < length; ) {
    const part = Math.min(distance + done, length - done);
    target.copyWithin(at + done, at - distance, at - distance + part);
    done += part;
  }
}

/** Position of a decoder in its source and in its target. */
export interface DecoderPosition {
  readonly read: number;
  readonly written: number;
}

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
    if (this.#end - position < 5) throw corrupt("the LZMA data is truncated");
    if (source[position] !== 0) throw corrupt("the LZMA data does not start with a zero");
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

  /** Walks down a tree from its root until the number of a node is at least `leaf`. */
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
