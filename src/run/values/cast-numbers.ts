import { castTo, floatRounder } from "../../codecs/filters/convert.ts";
import { isBig, type NumberArray, type NumberType, writeNumbers } from "../../codecs/filters/number-array.ts";
import { integerRange, numberKindOf } from "../../meta/number-kinds.ts";

/** Handling of a number that a type cannot represent: an error, or the nearest number of the type. */
export type Overflow = "error" | "clamp";

/** The numbers that a type cannot represent. */
export interface NotHeld {
  readonly count: number;
  /** Index of the first of them. */
  readonly index: number;
  readonly value: number | bigint;
}

export type NumberList = ArrayLike<number | bigint>;

/**
 * Casts numbers to another type. Floats round to the nearest float, ties to even. An integer type represents whole
 * numbers in its range; with `clamp`, others become the nearest integer of the type. NaN and infinities cannot be
 * clamped.
 *
 * @param target bytes for as many numbers of the type
 * @returns numbers that the type cannot represent, if any
 */
export function castNumbers(
  values: NumberList,
  type: NumberType,
  target: Uint8Array,
  overflow: Overflow,
): NotHeld | undefined {
  const found = new NotHeldNumbers();
  const how: Casting = { type, overflow, notHeld: (index) => found.add(index) };
  writeNumbers(target, type, values.length, (numbers) => {
    if (isBig(numbers)) castToWide(values, numbers, how);
    else if (type.kind === "float") castToFloat(values, numbers, how);
    else castToInteger(values, numbers, how);
  });
  return found.of(values);
}

/** Casts numbers to 0 and 1; with `clamp`, to the nearer of them. */
export function castBooleans(
  values: NumberList,
  target: Uint8Array,
  overflow: Overflow,
): NotHeld | undefined {
  const found = new NotHeldNumbers();
  for (let i = 0; i < target.length; i++) {
    const value = Number(values[i]);
    if (value === 0 || value === 1) target[i] = value;
    else if (overflow === "clamp" && Number.isFinite(value)) target[i] = value > 0.5 ? 1 : 0;
    else target[i] = found.add(i);
  }
  return found.of(values);
}

/** Counts the numbers that a type cannot represent. */
class NotHeldNumbers {
  #count = 0;
  #first = 0;

  /** @returns the number that is stored instead */
  add(index: number): 0 {
    if (this.#count++ === 0) this.#first = index;
    return 0;
  }

  of(values: NumberList): NotHeld | undefined {
    if (this.#count === 0) return undefined;
    return { count: this.#count, index: this.#first, value: values[this.#first] ?? 0 };
  }
}

interface Casting {
  readonly type: NumberType;
  readonly overflow: Overflow;
  /** Counts a number that the type cannot represent, and returns the one stored instead. */
  readonly notHeld: (index: number) => 0;
}

function castToFloat(values: NumberList, numbers: NumberArray, { type, overflow, notHeld }: Casting): void {
  const kind = numberKindOf(type);
  const { bits, significand = 0, exponent = 0 } = kind;
  const isTyped = ArrayBuffer.isView(values) && typeof values[0] === "number";
  // The engine rounds in the same way.
  if (isTyped && !bits) numbers.set(values as ArrayLike<number>);
  else {
    const round = floatRounder(kind, "nearest-even");
    for (let i = 0; i < numbers.length; i++) {
      const value = values[i] ?? 0;
      if (typeof value === "bigint") numbers[i] = round(value);
      else numbers[i] = bits ? bits.fromBits(bits.toBits(value)) : value;
    }
  }
  const largest = (2 - 2 ** -significand) * 2 ** exponent;
  for (let i = 0; i < numbers.length; i++) {
    const float = numbers[i] as number;
    // Only a finite value can overflow.
    if (float - float === 0 || Number.isNaN(float) || !isFiniteNumber(values[i])) continue;
    numbers[i] = overflow === "clamp" ? Math.sign(float) * largest : notHeld(i);
  }
}

function isFiniteNumber(value: number | bigint | undefined): boolean {
  return typeof value === "bigint" || Number.isFinite(value);
}

function castToInteger(values: NumberList, numbers: NumberArray, { type, overflow, notHeld }: Casting): void {
  const { least, most } = integerRange(numberKindOf(type));
  const [from, to] = [Number(least), Number(most)];
  const clamp = castTo(type, "nearest-even", "clamp");
  for (let i = 0; i < numbers.length; i++) {
    const value = Number(values[i]);
    if (value >= from && value <= to && Math.floor(value) === value) numbers[i] = value;
    else numbers[i] = overflow === "clamp" && Number.isFinite(value) ? Number(clamp(value)) : notHeld(i);
  }
}

/** Casts to 64-bit integers; floats beyond 2^53 are taken exactly. */
function castToWide(
  values: NumberList,
  numbers: BigInt64Array | BigUint64Array,
  { type, overflow, notHeld }: Casting,
): void {
  const { least, most } = integerRange(numberKindOf(type));
  const clamp = castTo(type, "nearest-even", "clamp");
  for (let i = 0; i < numbers.length; i++) {
    const value = values[i] ?? 0;
    const whole = typeof value === "bigint" ? value : Number.isInteger(value) ? BigInt(value) : undefined;
    if (whole !== undefined && whole >= least && whole <= most) numbers[i] = whole;
    else if (overflow === "clamp" && isFiniteNumber(value)) numbers[i] = BigInt(clamp(value));
    else numbers[i] = BigInt(notHeld(i));
  }
}
