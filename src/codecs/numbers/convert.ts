import { type BigArray, isBig, type NumberArray } from "./number-array.ts";

const MIN_WIDE = -(2n ** 63n);

/**
 * Converts numbers as C casts do: integers wrap, floats are truncated. NaN and infinities become the smallest 64-bit
 * integer, or 0 in smaller types.
 */
export function convertNumbers(from: NumberArray | BigArray, to: NumberArray | BigArray): void {
  if (isBig(from)) {
    if (isBig(to)) to.set(from);
    else if (to instanceof Float32Array || to instanceof Float64Array) {
      for (let i = 0; i < from.length; i++) to[i] = Number(from[i]);
    } else {
      const words = new Int32Array(from.buffer, from.byteOffset, from.length * 2);
      for (let i = 0; i < from.length; i++) to[i] = words[2 * i] as number;
    }
  } else if (isBig(to)) {
    for (let i = 0; i < from.length; i++) to[i] = toWide(from[i] as number);
  } else to.set(from);
}

function toWide(value: number): bigint {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : MIN_WIDE;
}

/** A double of this size has no bits for a fraction, so adding it rounds to the nearest integer, ties to even. */
const SHIFT = 1.5 * 2 ** 52;

/** Rounds to the nearest integer, ties to even; zeros keep the sign of `value`. */
export function roundToEven(value: number): number {
  if (!(Math.abs(value) < 2 ** 51)) {
    const down = Math.floor(value);
    return value === down || Number.isNaN(value) ? value : down % 2 === 0 ? down : down + 1;
  }
  const rounded = value + SHIFT - SHIFT;
  return rounded === 0 ? value * 0 : rounded;
}
