import { wordsOf } from "../../kernels/words.ts";
import { MAX_MATCH } from "./model.ts";

const HASH_BITS = 16;
const HASH_SIZE = 1 << HASH_BITS;
/** Bytes that are hashed, and so the shortest match that is found. */
export const MIN_FOUND = 4;
/** The most places that are remembered. */
const MAX_WINDOW = 2 ** 22;
const NONE = -1;

/** Bytes that finding matches in `size` bytes takes. */
export function matchFinderSize(size: number, dictionarySize: number): number {
  return 4 * (HASH_SIZE + windowFor(size, dictionarySize));
}

/** Finds matches by chains of places with the same hash, the last of them first. */
export class MatchFinder {
  readonly #source: Uint8Array;
  readonly #words: DataView;
  readonly #dictionarySize: number;
  readonly #depth: number;
  readonly #last = new Int32Array(HASH_SIZE).fill(NONE);
  readonly #before: Int32Array;
  /** All places below are in the chains. */
  #next = 0;
  /** How far back the match that was found last lies. */
  distance = 0;

  /** @param depth places of a chain that are tried. */
  constructor(source: Uint8Array, dictionarySize: number, depth: number) {
    this.#source = source;
    this.#words = wordsOf(source);
    this.#dictionarySize = dictionarySize;
    this.#depth = depth;
    this.#before = new Int32Array(windowFor(source.length, dictionarySize));
  }

  /** The longest match of what begins at `place`; its length, or 0. Places must not go down. */
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

  /** How many bytes from `place` on are those `distance` before, up to `most`. */
  lengthAt(place: number, distance: number, most: number): number {
    const source = this.#source;
    let length = 0;
    while (length < most && source[place + length] === source[place + length - distance]) length++;
    return length;
  }

  /** Whether a match could be longer than `length`. */
  #endsAlike(place: number, distance: number, length: number): boolean {
    return this.#source[place + length] === this.#source[place + length - distance];
  }

  /** Puts all places below `place` into their chains. */
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

/** A power of two that holds all places that matches may go back to, up to a limit. */
function windowFor(size: number, dictionarySize: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, Math.min(size, dictionarySize, MAX_WINDOW))));
}
