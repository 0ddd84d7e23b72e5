import { type BigArray, isBig, type NumberArray } from "./number-array.ts";

const MIN_WIDE = -(2n ** 63n);

/**
 * Puts `from` into `to` as C casts: integers wrap, floats are cut towards zero; what has no integer becomes the
 * smallest one of 64 bits, or 0 where fewer.
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

/** Adding this leaves no bits for a fraction, so that the machine rounds it away, ties to even. */
const SHIFT = 1.5 * 2 ** 52;

/** The nearest integer, ties to even; zeros keep the sign of `value`. */
export function roundToEven(value: number): number {
  if (!(Math.abs(value) < 2 ** 51)) {
    const down = Math.floor(value);
    return value === down || Number.isNaN(value) ? value : down % 2 === 0 ? down : down + 1;
  }
  const rounded = value + SHIFT - SHIFT;
  return rounded === 0 ? value * 0 : rounded;
}
