import { wordView } from "../kernels/swap-bytes.ts";
import * as model from "./model.ts";
import { MAX_MATCH } from "./model.ts";

/** Where an encoder of chunks stops. */
export interface EncodeLimits {
  /** Position in the source at or after which no symbol starts. */
  readonly sourceEnd: number;
  /** Size of the encoded bytes at or above which no symbol starts. */
  readonly encodedEnd: number;
}

/** Effort and reach of matching. */
export interface LzmaEffort {
  readonly dictionarySize: number;
  /** 0 to 9. */
  readonly preset: number;
}

/** The LZMA encoder and its state. It uses the longest match, unless the match at the next position is longer. */
export class LzmaEncoder {
  readonly #source: Uint8Array;
  readonly #properties: model.LzmaProperties;
  readonly #probabilities: Uint16Array;
  readonly #finder: MatchFinder;
  #state = 0;
  /** The last four distances. */
  readonly #reps = Int32Array.of(1, 1, 1, 1);
  #foundAt = -1;
  #foundLength = 0;
  #foundDistance = 0;
  /** The first byte that is not encoded yet. */
  position = 0;

  constructor(source: Uint8Array, properties: model.LzmaProperties, { dictionarySize, preset }: LzmaEffort) {
    this.#source = source;
    this.#properties = properties;
    this.#probabilities = new Uint16Array(model.probabilityCount(properties)).fill(model.EVEN);
    this.#finder = new MatchFinder(source, dictionarySize, 4 << (preset >> 1));
  }

  /** Resets the state as decoders do; the encoded data stay the dictionary. */
  reset(): void {
    this.#probabilities.fill(model.EVEN);
    this.#state = 0;
    this.#reps.fill(1);
  }

  /** Encodes from `position` on until a limit is reached. */
  encode(range: RangeEncoder, { sourceEnd, encodedEnd }: EncodeLimits): void {
    while (this.position < sourceEnd && range.end < encodedEnd) this.#encodeSymbol(range);
  }

  /** Writes the end marker. */
  encodeEnd(range: RangeEncoder): void {
    const place = this.#place();
    range.bit(this.#probabilities, model.IS_MATCH + (this.#state << 4) + place, 1);
    range.bit(this.#probabilities, model.IS_REP + this.#state, 0);
    this.#encodeLength(range, model.MATCH_LENGTHS, place, model.MIN_MATCH);
    this.#encodeDistance(range, model.END_MARKER, model.MIN_MATCH);
  }

  #encodeSymbol(range: RangeEncoder): void {
    const { position } = this;
    const [rep, repLength] = this.#longestRep();
    this.#find(position);
    const length = this.#foundLength;
    const distance = this.#foundDistance;
    // A repeated distance costs few bits, a far one many.
    const handicap = distance > 2 ** 15 ? 3 : distance > 2 ** 9 ? 2 : 1;
    if (repLength >= model.MIN_MATCH && repLength + handicap >= length) {
      this.#encodeRep(range, rep, repLength);
    } else if (length >= MIN_FOUND && !this.#isLongerNext(length)) {
      this.#encodeMatch(range, distance, length);
    } else {
      this.#encodeLiteral(range);
    }
  }

  #find(position: number): void {
    if (this.#foundAt === position) return;
    this.#foundAt = position;
    this.#foundLength = this.#finder.find(position);
    this.#foundDistance = this.#finder.distance;
  }

  #isLongerNext(length: number): boolean {
    this.#find(this.position + 1);
    return this.#foundLength > length;
  }

  #longestRep(): readonly [rep: number, length: number] {
    const most = Math.min(model.MAX_MATCH, this.#source.length - this.position);
    let longest = 0;
    let best = 0;
    for (let rep = 0; rep < 4; rep++) {
      const distance = this.#reps[rep] as number;
      if (distance > this.position) continue;
      const length = this.#finder.lengthAt(this.position, distance, most);
      if (length > longest) {
        longest = length;
        best = rep;
      }
    }
    return [best, longest];
  }

  #place(): number {
    return this.position & ((1 << this.#properties.pb) - 1);
  }

  #encodeLiteral(range: RangeEncoder): void {
    const { position } = this;
    const { lc, lp } = this.#properties;
    const byte = this.#source[position] as number;
    range.bit(this.#probabilities, model.IS_MATCH + (this.#state << 4) + this.#place(), 0);
    const before = position > 0 ? (this.#source[position - 1] as number) : 0;
    const context = ((position & ((1 << lp) - 1)) << lc) + (before >>> (8 - lc));
    const offset = model.LITERALS + model.LITERAL_SIZE * context;
    if (this.#state < model.LITERAL_STATES) {
      range.tree(this.#probabilities, offset, 8, byte);
    } else {
      const expected = this.#source[position - (this.#reps[0] as number)] as number;
      range.literalAfterMatch(this.#probabilities, offset, expected, byte);
    }
    this.#state = model.stateAfterLiteral(this.#state);
    this.position++;
  }

  #encodeMatch(range: RangeEncoder, distance: number, length: number): void {
    const place = this.#place();
    range.bit(this.#probabilities, model.IS_MATCH + (this.#state << 4) + place, 1);
    range.bit(this.#probabilities, model.IS_REP + this.#state, 0);
    this.#encodeLength(range, model.MATCH_LENGTHS, place, length);
    this.#encodeDistance(range, distance - 1, length);
    this.#reps.copyWithin(1, 0, 3);
    this.#reps[0] = distance;
    this.#state = model.stateAfterMatch(this.#state);
    this.position += length;
  }

  #encodeRep(range: RangeEncoder, rep: number, length: number): void {
    const probabilities = this.#probabilities;
    const state = this.#state;
    const place = this.#place();
    range.bit(probabilities, model.IS_MATCH + (state << 4) + place, 1);
    range.bit(probabilities, model.IS_REP + state, 1);
    range.bit(probabilities, model.IS_REP_0 + state, rep === 0 ? 0 : 1);
    if (rep === 0) {
      range.bit(probabilities, model.IS_LONG_REP_0 + (state << 4) + place, 1);
    } else {
      range.bit(probabilities, model.IS_REP_1 + state, rep === 1 ? 0 : 1);
      if (rep > 1) range.bit(probabilities, model.IS_REP_2 + state, rep === 2 ? 0 : 1);
      const distance = this.#reps[rep] as number;
      this.#reps.copyWithin(1, 0, rep);
      this.#reps[0] = distance;
    }
    this.#encodeLength(range, model.REP_LENGTHS, place, length);
    this.#state = model.stateAfterRep(state);
    this.position += length;
  }

  #encodeLength(range: RangeEncoder, offset: number, place: number, length: number): void {
    const probabilities = this.#probabilities;
    const rest = length - model.MIN_MATCH;
    range.bit(probabilities, offset, rest < 8 ? 0 : 1);
    if (rest < 8) {
      range.tree(probabilities, offset + model.LENGTH_LOW + (place << 3), 3, rest);
      return;
    }
    range.bit(probabilities, offset + model.LENGTH_CHOICE_2, rest < 16 ? 0 : 1);
    if (rest < 16) range.tree(probabilities, offset + model.LENGTH_MIDDLE + (place << 3), 3, rest - 8);
    else range.tree(probabilities, offset + model.LENGTH_HIGH, 8, rest - 16);
  }

  /** Encodes a distance, minus one. */
  #encodeDistance(range: RangeEncoder, distance: number, length: number): void {
    const kind = Math.min(length - model.MIN_MATCH, 3);
    const slot = slotOf(distance);
    range.tree(this.#probabilities, model.SLOTS + (kind << 6), 6, slot);
    if (slot < 4) return;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    const rest = distance - base;
    if (slot < model.FAR_SLOT) {
      range.reverseTree(this.#probabilities, model.NEAR + base - slot, bits, rest);
      return;
    }
    range.direct(bits - model.ALIGN_BITS, rest >>> model.ALIGN_BITS);
    range.reverseTree(this.#probabilities, model.ALIGN, model.ALIGN_BITS, rest & 0xf);
  }
}

/** Twice the position of the highest bit, plus the bit below it. */
function slotOf(distance: number): number {
  const highest = 31 - Math.clz32(distance);
  return highest < 1 ? distance : 2 * highest + ((distance >>> (highest - 1)) & 1);
}

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

const HASH_BITS = 16;
const HASH_SIZE = 1 << HASH_BITS;
/** Bytes that are hashed, and so the shortest match that is found. */
export const MIN_FOUND = 4;
/** The most positions that are remembered. */
const MAX_WINDOW = 2 ** 22;
const NONE = -1;

/** Bytes that finding matches in `size` bytes takes. */
export function matchFinderSize(size: number, dictionarySize: number): number {
  return 4 * (HASH_SIZE + windowFor(size, dictionarySize));
}

/** Finds matches with chains of positions that have the same hash, the latest first. */
export class MatchFinder {
  readonly #source: Uint8Array;
  readonly #words: DataView;
  readonly #dictionarySize: number;
  readonly #depth: number;
  readonly #last = new Int32Array(HASH_SIZE).fill(NONE);
  readonly #before: Int32Array;
  /** All positions below this are in the chains. */
  #next = 0;
  /** Distance of the match that was found last. */
  distance = 0;

  /** @param depth positions of a chain to try. */
  constructor(source: Uint8Array, dictionarySize: number, depth: number) {
    this.#source = source;
    this.#words = wordView(source);
    this.#dictionarySize = dictionarySize;
    this.#depth = depth;
    this.#before = new Int32Array(windowFor(source.length, dictionarySize));
  }

  /** Finds the longest match for the bytes at `place` and returns its length, or 0. `place` must not decrease. */
  find(place: number): number {
    const most = Math.min(MAX_MATCH, this.#source.length - place);
    if (most < MIN_FOUND) return 0;
    this.#remember(place);
    const window = this.#before.length;
    const limit = Math.max(0, place - Math.min(window, this.#dictionarySize));
    const word = this.#words.getInt32(place, true);
    let candidate = this.#last[this.#hash(place)] as number;
    let length = 0;
    for (let tries = this.#depth; candidate >= limit && tries > 0; tries--) {
      const distance = place - candidate;
      if (this.#words.getInt32(candidate, true) === word && this.#endsAlike(place, distance, length)) {
        const found = this.lengthAt(place, distance, most);
        if (found > length) {
          length = found;
          this.distance = distance;
          if (length === most) break;
        }
      }
      candidate = this.#before[candidate & (window - 1)] as number;
    }
    return length;
  }

  /** Number of bytes from `place` on that equal the bytes `distance` before, up to `most`. */
  lengthAt(place: number, distance: number, most: number): number {
    const source = this.#source;
    let length = 0;
    while (length < most && source[place + length] === source[place + length - distance]) length++;
    return length;
  }

  /** True if a match could be longer than `length`. */
  #endsAlike(place: number, distance: number, length: number): boolean {
    return this.#source[place + length] === this.#source[place + length - distance];
  }

  /** Adds all positions below `place` to their chains. */
  #remember(place: number): void {
    const mask = this.#before.length - 1;
    for (; this.#next < place; this.#next++) {
      const slot = this.#hash(this.#next);
      this.#before[this.#next & mask] = this.#last[slot] as number;
      this.#last[slot] = this.#next;
    }
  }

  #hash(place: number): number {
    return Math.imul(this.#words.getInt32(place, true), 0x9e37_79b1) >>> (32 - HASH_BITS);
  }
}

/** The smallest power of two that covers all positions that matches can go back to, up to a limit. */
function windowFor(size: number, dictionarySize: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, Math.min(size, dictionarySize, MAX_WINDOW))));
}
