/** Digits that any double holds. */
const MAX_DIGITS = 15;

/** Powers of ten that doubles hold without loss. */
const POWERS = Array.from({ length: MAX_DIGITS + 1 }, (_, i) => Number(`1e${i}`));

const ZERO = 0x30;
const MINUS = 0x2d;
const POINT = 0x2e;

/** What was found last; one for all, so that nothing is made for each number. */
const found = { value: 0, end: 0 };

/**
 * The number that begins at `at` of a text and where it ends, without a string for its token; valid until the next
 * call. Undefined for anything but a number of up to 15 digits that JavaScript would write in the same way: those with
 * an exponent, `-0`, and `1.0`.
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
    // JavaScript writes no zero at the end, and an exponent for what is below a millionth.
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

/** Whole numbers that JavaScript's own say as they are: those without more digits. */
const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** Whether JavaScript's number says all that the token says. */
export function isExact(token: string): boolean {
  if (SHORT_INTEGER.test(token)) return true;
  const value = Number(token);
  return (
    // The same as of `String`, which keeps what it gives in a cache.
    JSON.stringify(value) === token &&
    (!Number.isInteger(value) || Number.isSafeInteger(value) || token.includes("e"))
  );
}
