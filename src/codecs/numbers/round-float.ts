import { fromFloat16Bits, toFloat16Bits } from "../../util/float16.ts";

export const ROUNDINGS = [
  "nearest-even",
  "towards-zero",
  "towards-positive",
  "towards-negative",
  "nearest-away",
] as const;

/** Rounding of a number between two values of a type. */
export type Rounding = (typeof ROUNDINGS)[number];

/** The positive floats of a size, in order. */
interface Floats {
  nearest(value: number): number;
  next(float: number): number;
  previous(float: number): number;
  isEven(float: number): boolean;
  /** The number that would follow the largest float if there were more exponents. */
  readonly limit: number;
}

/**
 * Returns a function that rounds to floats of `size` bytes; numbers that round beyond the largest become infinite. The
 * input is exact: integers above 2^53 must be bigints.
 */
export function floatRounder(size: 2 | 4 | 8, rounding: Rounding): (value: number | bigint) => number {
  const floats = FLOATS[size];
  return (value) => {
    const exact = typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
    if (typeof exact === "number" && (size === 8 || !Number.isFinite(exact))) return exact;
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
  let [low, high] = neighbours(Math.min(floats.nearest(Number(magnitude)), floats.limit), magnitude, floats);
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

function neighbours(nearest: number, magnitude: number | bigint, floats: Floats): [number, number] {
  if (nearest < magnitude) return [nearest, floats.next(nearest)];
  return nearest > magnitude ? [floats.previous(nearest), nearest] : [nearest, nearest];
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);
const double = new Float64Array(1);
const doubleBits = new BigUint64Array(double.buffer);

const FLOATS: Readonly<Record<2 | 4 | 8, Floats>> = {
  2: floatsOf(toFloat16Bits, fromFloat16Bits, 2 ** 16),
  4: floatsOf(
    (value) => {
      single[0] = value;
      return singleBits[0] as number;
    },
    (bits) => {
      singleBits[0] = bits;
      return single[0] as number;
    },
    2 ** 128,
  ),
  8: {
    nearest: (value) => value,
    next: (float) => doubleAt(bitsOfDouble(float) + 1n),
    previous: (float) => doubleAt(bitsOfDouble(float) - 1n),
    isEven: (float) => bitsOfDouble(float) % 2n === 0n,
    limit: Number.POSITIVE_INFINITY,
  },
};

function floatsOf(
  toBits: (value: number) => number,
  fromBits: (bits: number) => number,
  limit: number,
): Floats {
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
