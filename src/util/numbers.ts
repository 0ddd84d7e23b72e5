/** An exact decimal number: `sign * digits * 10 ** exponent`; `digits` has no zeros at its ends, "" is zero. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** True if two lists have the same numbers, in the same order. */
export function sameNumbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.prototype.every.call(a, (n, i) => n === b[i]);
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

/** The number that NumPy stores for a time or a span that is missing ("not a time"). */
export const NAT = -(2n ** 63n);

/** Degrees of longitude in a full turn. */
export const FULL_TURN = 360;

/** True for an integer of at least 0, in the safe range. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
