/** Adding this leaves no bits for a fraction, so that the machine rounds it away, ties to even. */
const SHIFT = 1.5 * 2 ** 52;

/** The nearest integer, ties to even; zeros keep the sign of `value`. */
export function roundToEven(value: number): number {
  if (!(Math.abs(value) < 2 ** 51)) return value;
  const rounded = value + SHIFT - SHIFT;
  return rounded === 0 ? value * 0 : rounded;
}
