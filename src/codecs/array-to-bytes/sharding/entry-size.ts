/** Bytes of the index entry of one inner chunk. */
export const ENTRY_SIZE = 16;
export const EMPTY = 2n ** 64n - 1n;
