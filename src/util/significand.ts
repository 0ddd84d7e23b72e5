/** Bits of a float's significand, by its size in bytes. */
export const SIGNIFICAND: Readonly<Record<number, number>> = { 2: 10, 4: 23, 8: 52 };
