/** Bits of the significand of a float, by its size in bytes. */
export const SIGNIFICAND: Readonly<Record<number, number>> = { 2: 10, 4: 23, 8: 52 };
