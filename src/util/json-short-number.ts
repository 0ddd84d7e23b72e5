/** Digits that a double always represents exactly. */
const MAX_DIGITS = 15;

/** Powers of ten that doubles represent exactly. */
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, i) => Number(`1e${i}`));

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** The last result, reused to avoid an allocation per number. */
const found = { value: 0, end: 0 };

/**
 * Returns the number at `at` and where it ends, without creating a string for its token; valid until the next call.
 * Handles only numbers of up to 15 digits that JavaScript writes in the same way. Undefined for all others, including
 * exponents, `-0` and `1.0`.
 */
export function readShortNumber(
  text: string,
  at: number,
): { readonly value: number; readonly end: number } | undefined {
  let i = at;
  const isNegative = text.charCodeAt(i) === MINUS;
  if (isNegative) i++;
  const start = i;
  let digits = 0;
  let code = text.charCodeAt(i);
  for (; isDigit(code); code = text.charCodeAt(++i)) {
    if (i - start === MAX_DIGITS) return undefined;
    digits = 10 * digits + code - ZERO;
  }
  const whole = i - start;
  if (whole === 0 || (whole > 1 && text.charCodeAt(start) === ZERO)) return undefined;
  let decimals = 0;
  if (code === POINT) {
    for (code = text.charCodeAt(++i); isDigit(code); code = text.charCodeAt(++i)) {
      if (whole + ++decimals > MAX_DIGITS) return undefined;
      digits = 10 * digits + code - ZERO;
    }
    // JavaScript writes no trailing zero, and an exponent for values below a millionth.
    if (decimals === 0 || digits % 10 === 0) return undefined;
  }
  if (code === 0x65 || code === 0x45 || (digits === 0 && isNegative)) return undefined;
  const value = decimals === 0 ? digits : digits / (POWERS[decimals] ?? Number.NaN);
  if (decimals > 0 && value < 1e-6) return undefined;
  found.value = isNegative ? -value : value;
  found.end = i;
  return found;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** Integers that JavaScript always represents exactly, because they have few digits. */
const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** True if converting the token to a number and back gives the same token. */
export function isExact(token: string): boolean {
  if (SHORT_INTEGER.test(token)) return true;
  const value = Number(token);
  return (
    // Same result as `String`, which keeps its results in a cache.
    JSON.stringify(value) === token &&
    (!Number.isInteger(value) || Number.isSafeInteger(value) || token.includes("e"))
  );
}
