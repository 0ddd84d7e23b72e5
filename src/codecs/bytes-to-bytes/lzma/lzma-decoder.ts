import type { ZarrflowError } from "../../../util/errors.ts";
import { corrupt } from "../../failures.ts";
import * as model from "./model.ts";
import type { RangeDecoder } from "./range-decoder.ts";

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
      if (range.isPastEnd) throw corrupt("the LZMA data are truncated");
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
      if (length > end - t) throw range.isPastEnd ? corrupt("the LZMA data are truncated") : beyond();
      copyBack(target, t, this.#rep0 + 1, length);
      t += length;
    }
    this.#state = state;
    if (range.isPastEnd) throw corrupt("the LZMA data are truncated");
    return t;
  }

  /** Reads the next symbol, at `position` of the target, and returns true if it is the end marker. */
  takeEnd(range: RangeDecoder, position: number): boolean {
    const place = (position - this.dictionaryStart) & ((1 << this.#properties.pb) - 1);
    const isMatch = range.bit(this.#probabilities, model.IS_MATCH + (this.#state << 4) + place);
    if (isMatch === 1) this.#readMatch(range, place);
    if (range.isPastEnd) throw corrupt("the LZMA data are truncated");
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
export interface Progress {
  readonly read: number;
  readonly written: number;
}
