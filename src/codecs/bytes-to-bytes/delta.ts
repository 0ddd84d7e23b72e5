import type { CodecFactory } from "../codec.ts";
import { convertNumbers } from "../numbers/convert.ts";
import { type BigArray, isBig, keeper, type NumberArray } from "../numbers/number-array.ts";
import { numberFilter } from "../numbers/number-filter.ts";
import { type NumberType, numberType } from "../numbers/number-type.ts";
import { Settings } from "../settings.ts";

/**
 * `delta` of numcodecs: the first number, then differences, computed in `dtype` and stored as `astype`; decoding sums
 * them in `dtype`. Integers wrap.
 *
 * @see V2-53
 */
export const createDelta: CodecFactory = (configuration) => {
  const settings = new Settings(configuration);
  const decoded = numberType(settings, "dtype");
  const stored = numberType(settings, "astype", decoded);
  const sameType = decoded.kind === stored.kind && decoded.size === stored.size;
  return numberFilter({
    name: "delta",
    decoded,
    stored,
    encode(from, to) {
      const own = sameType ? to : from.slice();
      differences(from, own, decoded);
      if (own !== to) convertNumbers(own, to);
    },
    decode(from, to) {
      convertNumbers(from, to);
      sum(to, decoded);
    },
  });
};

function differences(from: NumberArray | BigArray, to: NumberArray | BigArray, type: NumberType): void {
  if (isBig(from)) {
    wideDifferences(wordsOf(from), wordsOf(to));
    return;
  }
  const keep = keeper(type);
  let previous = 0;
  for (let i = 0; i < from.length; i++) {
    const value = from[i] as number;
    to[i] = i === 0 ? value : keep(value - previous);
    previous = value;
  }
}

/** Running sums, in place. */
function sum(numbers: NumberArray | BigArray, type: NumberType): void {
  if (isBig(numbers)) {
    sumWide(wordsOf(numbers));
    return;
  }
  const keep = keeper(type);
  let total = numbers[0] as number;
  for (let i = 1; i < numbers.length; i++) {
    total = keep(total + (numbers[i] as number));
    numbers[i] = total;
  }
}

/** 64-bit differences by words, low word first: several times faster than bigints. */
function wideDifferences(from: Uint32Array, to: Uint32Array): void {
  let previousLow = 0;
  let previousHigh = 0;
  for (let i = 0; i < from.length; i += 2) {
    const low = from[i] as number;
    const high = from[i + 1] as number;
    to[i] = low - previousLow;
    to[i + 1] = high - previousHigh - (low < previousLow ? 1 : 0);
    previousLow = low;
    previousHigh = high;
  }
}

function sumWide(words: Uint32Array): void {
  let low = 0;
  let high = 0;
  for (let i = 0; i < words.length; i += 2) {
    const sum = low + (words[i] as number);
    low = sum >>> 0;
    high = (high + (words[i + 1] as number) + (sum > low ? 1 : 0)) >>> 0;
    words[i] = low;
    words[i + 1] = high;
  }
}

function wordsOf(numbers: NumberArray | BigArray): Uint32Array {
  return new Uint32Array(numbers.buffer as ArrayBuffer, numbers.byteOffset, numbers.byteLength / 4);
}
