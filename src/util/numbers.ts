/** An exact decimal number: `sign * digits * 10 ** exponent`; `digits` has no zeros at its ends, "" is zero. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Reads a JSON number token. */
export function parseDecimal(token: string): Decimal {
  const [mantissa = "", power = "0"] = token.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".");
  const all = whole + fraction;
  let end = all.length;
  while (end > 0 && all[end - 1] === "0") end--;
  const digits = all.slice(0, end).replace(/^0+/, "");
  const exponent = Number(power) - fraction.length + all.length - end;
  return { negative: token.startsWith("-"), digits, exponent: digits === "" ? 0 : exponent };
}

/** Parses a JSON number token as an integer; undefined for a fraction or more than `maxDigits` digits. */
export function parseInteger(token: string, maxDigits = 20): bigint | undefined {
  const { negative, digits, exponent } = parseDecimal(token);
  if (exponent < 0 || digits.length + exponent > maxDigits) return undefined;
  const magnitude = BigInt(digits || "0") * 10n ** BigInt(exponent);
  return negative ? -magnitude : magnitude;
}

/** Parses digits with an optional minus; undefined for any other text, such as `1e1`, and for unsafe integers. */
export function parseWholeNumber(text: string): number | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const number = Number(text) + 0; // turns -0 into 0
  return Number.isSafeInteger(number) ? number : undefined;
}

/** The remainder of a division rounded down: from 0 to `by`, also for negative numbers. */
export function modulo(number: number, by: number): number {
  return ((number % by) + by) % by;
}

/**
 * Returns the bits of the nearest float16, ties to even. Too large values become infinity, NaN the positive quiet
 * NaN.
 */
export function toFloat16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  double[0] = magnitude;
  // Below 2^-14 floats are subnormal, in steps of 2^-24.
  const exponent = Math.max(((words[HIGH] as number) >>> 20) - 1023, -14);
  const steps = roundToEven(magnitude * (STEPS[exponent + 14] as number));
  return sign | (steps + (exponent + 14) * 1024);
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
/** Index of the word that contains a double's exponent. */
const HIGH = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0;
/** Steps per unit, by float16 exponent. */
const STEPS = Float64Array.from({ length: 30 }, (_, i) => 2 ** (24 - i));

/** The value of float16 bits. */
export function fromFloat16Bits(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const mantissa = bits & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return (sign * (1024 + mantissa)) / (STEPS[exponent - 1] as number);
}

function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

/** Bits of a float's significand, by its size in bytes. */
export const SIGNIFICAND: Readonly<Record<number, number>> = { 2: 10, 4: 23, 8: 52 };

/** The number that NumPy stores for a time or a span that is missing ("not a time"). */
export const NAT = -(2n ** 63n);
