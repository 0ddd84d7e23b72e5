import { castTo, integerRange } from "../../codecs/numbers/cast.ts";
import { isBig, type NumberArray, writeNumbers } from "../../codecs/numbers/number-array.ts";
import type { NumberType } from "../../codecs/numbers/number-type.ts";
import { fromFloat16Bits, toFloat16Bits } from "../../util/float16.ts";

/** What becomes of a number that a type cannot hold: an error, or the nearest number of the type. */
export type Overflow = "error" | "clamp";

/** The numbers that a type cannot hold. */
export interface NotHeld {
  readonly count: number;
  /** Index of the first of them. */
  readonly index: number;
  readonly value: number | bigint;
}

export type NumberList = ArrayLike<number | bigint>;

/**
 * Writes numbers as numbers of another type. Floats round to the nearest float, ties to even. An integer type holds whole
 * numbers in its range; with `clamp`, others become the nearest integer of the type. NaN and infinities have none.
 *
 * @param target bytes for as many numbers of the type
 * @returns those that the type cannot hold, where there are any
 */
export function castNumbers(
  values: NumberList,
  type: NumberType,
  target: Uint8Array,
  overflow: Overflow,
): NotHeld | undefined {
  let count = 0;
  let first = 0;
  const notHeld = (index: number): number => {
    if (count++ === 0) first = index;
    return 0;
  };
  writeNumbers(target, type, values.length, (numbers) => {
    if (isBig(numbers)) castToWide(values, numbers, { type, overflow, notHeld });
    else if (type.kind === "float") castToFloat(values, numbers, { type, overflow, notHeld });
    else castToInteger(values, numbers, { type, overflow, notHeld });
  });
  return count > 0 ? { count, index: first, value: values[first] ?? 0 } : undefined;
}

interface Casting {
  readonly type: NumberType;
  readonly overflow: Overflow;
  /** Counts a number that the type cannot hold; what is put in its place. */
  readonly notHeld: (index: number) => number;
}

function castToFloat(values: NumberList, numbers: NumberArray, { type, overflow, notHeld }: Casting): void {
  const isHalf = type.size === 2;
  const largest = LARGEST[type.size as 2 | 4 | 8];
  for (let i = 0; i < numbers.length; i++) {
    const value = Number(values[i]);
    const float = isHalf
      ? fromFloat16Bits(toFloat16Bits(value))
      : type.size === 4
        ? Math.fround(value)
        : value;
    const isBeyond = Number.isFinite(value) && !Number.isFinite(float);
    if (!isBeyond) numbers[i] = float;
    else numbers[i] = overflow === "clamp" ? Math.sign(value) * largest : notHeld(i);
  }
}

const LARGEST = { 2: 65504, 4: (2 - 2 ** -23) * 2 ** 127, 8: Number.MAX_VALUE };

function castToInteger(values: NumberList, numbers: NumberArray, { type, overflow, notHeld }: Casting): void {
  const { least, most } = integerRange(type);
  const [from, to] = [Number(least), Number(most)];
  const clamp = castTo(type, "nearest-even", "clamp");
  for (let i = 0; i < numbers.length; i++) {
    const value = Number(values[i]);
    if (value >= from && value <= to && Number.isInteger(value)) numbers[i] = value;
    else numbers[i] = overflow === "clamp" && Number.isFinite(value) ? Number(clamp(value)) : notHeld(i);
  }
}

/** Integers of 64 bits: numbers beyond 2^53 are taken as they are. */
function castToWide(
  values: NumberList,
  numbers: BigInt64Array | BigUint64Array,
  { type, overflow, notHeld }: Casting,
): void {
  const { least, most } = integerRange(type);
  const clamp = castTo(type, "nearest-even", "clamp");
  for (let i = 0; i < numbers.length; i++) {
    const value = values[i] ?? 0;
    const whole = typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(value) : undefined;
    if (whole !== undefined && whole >= least && whole <= most) numbers[i] = whole;
    else if (overflow === "clamp" && Number.isFinite(Number(value))) numbers[i] = BigInt(clamp(value));
    else numbers[i] = BigInt(notHeld(i));
  }
}
