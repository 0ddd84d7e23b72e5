import { FLOAT64, integerRange, type NumberKind, numberKindOf } from "../../meta/number-kinds.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { type BigArray, isBig, type NumberArray, type NumberType } from "./number-array.ts";

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

/** Result of casting a number that is out of the range of the type. */
export type OutOfRange = "error" | "clamp" | "wrap";

/** Casts one number; 64-bit integers are bigints, all others numbers. */
export type Cast = (value: number | bigint) => number | bigint;

/**
 * Returns a function that casts single numbers to a type by value.
 *
 * @throws (the cast) `codec-error` for a number out of range, unless `outOfRange` sets a result, and for a number that
 *   is not finite if the type is an integer type.
 */
export function castTo(type: NumberType, rounding: Rounding, outOfRange: OutOfRange): Cast {
  if (type.kind !== "float") return castToInteger(type, rounding, outOfRange);
  const round = floatRounder(numberKindOf(type), rounding);
  return (value) => {
    const float = round(value);
    const isBeyond = !Number.isFinite(float) && (typeof value === "bigint" || Number.isFinite(value));
    if (isBeyond && outOfRange !== "clamp") throw beyond(value, type);
    return float;
  };
}

function castToInteger(type: NumberType, rounding: Rounding, outOfRange: OutOfRange): Cast {
  const { least, most } = integerRange(numberKindOf(type));
  const bits = 8 * type.size;
  const round = ROUND[rounding];
  const keep: Cast = type.size === 8 ? BigInt : Number;
  return (value) => {
    if (typeof value === "number" && !Number.isFinite(value)) throw beyond(value, type);
    const integer = typeof value === "number" ? round(value) : value;
    if (integer >= least && integer <= most) return keep(integer);
    if (outOfRange === "error") throw beyond(value, type);
    if (outOfRange === "clamp") return keep(integer < least ? least : most);
    const whole = BigInt(integer);
    return keep(type.kind === "int" ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole));
  };
}

const ROUND: Readonly<Record<Rounding, (value: number) => number>> = {
  "nearest-even": roundToEven,
  "towards-zero": Math.trunc,
  "towards-positive": Math.ceil,
  "towards-negative": Math.floor,
  "nearest-away": (value) => {
    const whole = Math.trunc(value);
    return Math.abs(value - whole) >= 0.5 ? whole + Math.sign(value) : whole;
  },
};

function beyond(value: number | bigint, type: NumberType): ZarrflowError {
  return new ZarrflowError("codec-error", `${value} is not a value of ${numberKindOf(type).name}`, {
    hint: "Set `out_of_range` for values outside the range of the type, or `scalar_map` for particular values.",
  });
}

export const ROUNDINGS = [
  "nearest-even",
  "towards-zero",
  "towards-positive",
  "towards-negative",
  "nearest-away",
] as const;

/** Rounding of a number between two values of a type. */
export type Rounding = (typeof ROUNDINGS)[number];

/** The positive floats of a kind, in order. */
interface Floats {
  nearest(value: number): number;
  next(float: number): number;
  previous(float: number): number;
  isEven(float: number): boolean;
  /** The number that would follow the largest float if there were more exponents. */
  readonly limit: number;
}

/**
 * Returns a function that rounds to the floats of a kind; numbers that round beyond the largest become infinite. The
 * input is exact: integers above 2^53 must be bigints.
 */
export function floatRounder(kind: NumberKind, rounding: Rounding): (value: number | bigint) => number {
  const floats = kind === FLOAT64 ? DOUBLES : floatsOf(kind);
  return (value) => {
    const exact = typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
    if (typeof exact === "number" && (kind === FLOAT64 || !Number.isFinite(exact))) return exact;
    const isNegative = exact < 0 || Object.is(exact, -0);
    const magnitude = isNegative ? -exact : exact;
    const rounded = roundMagnitude(magnitude, floats, towards(rounding, isNegative));
    const float = rounded >= floats.limit ? Number.POSITIVE_INFINITY : rounded;
    return isNegative ? -float : float;
  };
}

/** Rounding of a magnitude. */
type Direction = "down" | "up" | "even" | "away";

function towards(rounding: Rounding, isNegative: boolean): Direction {
  switch (rounding) {
    case "nearest-even":
      return "even";
    case "nearest-away":
      return "away";
    case "towards-zero":
      return "down";
    case "towards-positive":
      return isNegative ? "down" : "up";
    case "towards-negative":
      return isNegative ? "up" : "down";
  }
}

function roundMagnitude(magnitude: number | bigint, floats: Floats, direction: Direction): number {
  if (magnitude >= floats.limit) return floats.limit;
  let [low, high] = neighbors(Math.min(floats.nearest(Number(magnitude)), floats.limit), magnitude, floats);
  // `nearest` may be off by one, because a bigint is first rounded to a double.
  while (high < magnitude) [low, high] = [high, floats.next(high)];
  while (low > magnitude) [low, high] = [floats.previous(low), low];
  if (low === high || !(low < magnitude)) return low;
  if (!(high > magnitude)) return high;
  if (direction === "down") return low;
  if (direction === "up") return high;
  const below = typeof magnitude === "bigint" ? magnitude - BigInt(low) : magnitude - low;
  const above = typeof magnitude === "bigint" ? BigInt(high) - magnitude : high - magnitude;
  if (below < above) return low;
  if (above < below) return high;
  return direction === "even" && floats.isEven(low) ? low : high;
}

function neighbors(nearest: number, magnitude: number | bigint, floats: Floats): [number, number] {
  if (nearest < magnitude) return [nearest, floats.next(nearest)];
  return nearest > magnitude ? [floats.previous(nearest), nearest] : [nearest, nearest];
}

const DOUBLES: Floats = {
  nearest: (value) => value,
  next: (float) => doubleAt(bitsOfDouble(float) + 1n),
  previous: (float) => doubleAt(bitsOfDouble(float) - 1n),
  isEven: (float) => bitsOfDouble(float) % 2n === 0n,
  limit: Number.POSITIVE_INFINITY,
};

const double = new Float64Array(1);
const doubleBits = new BigUint64Array(double.buffer);

/** Floats of at most 4 bytes. */
function floatsOf({ type: { size }, exponent = 0, read, write }: NumberKind): Floats {
  const view = new DataView(new ArrayBuffer(4));
  const toBits = (value: number) => {
    write(view, 0, value);
    return size === 2 ? view.getUint16(0, true) : view.getUint32(0, true);
  };
  const fromBits = (bits: number) => {
    view.setUint32(0, bits, true);
    return Number(read(view, 0));
  };
  const limit = 2 ** (exponent + 1);
  const infinity = toBits(Number.POSITIVE_INFINITY);
  const at = (bits: number) => (bits === infinity ? limit : fromBits(bits));
  const bitsAt = (float: number) => (float >= limit ? infinity : toBits(float));
  return {
    nearest: (value) => fromBits(toBits(value)),
    next: (float) => at(bitsAt(float) + 1),
    previous: (float) => at(bitsAt(float) - 1),
    isEven: (float) => bitsAt(float) % 2 === 0,
    limit,
  };
}

function bitsOfDouble(value: number): bigint {
  double[0] = value;
  return doubleBits[0] as bigint;
}

function doubleAt(bits: bigint): number {
  doubleBits[0] = bits;
  return double[0] as number;
}
