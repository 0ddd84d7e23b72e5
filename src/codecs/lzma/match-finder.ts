import { wordsOf } from "../kernels/swap-bytes.ts";
import { MAX_MATCH } from "./model.ts";

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
    this.#words = wordsOf(source);
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
