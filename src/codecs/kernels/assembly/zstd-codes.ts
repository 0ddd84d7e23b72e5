/** The codes of zstd sequences: base values, extra bits, and the default tables for frames without their own. */

export const MAX_LITERAL_CODE: u32 = 35;
export const MAX_MATCH_CODE: u32 = 52;
export const MAX_OFFSET_CODE: u32 = 31;
export const LITERAL_LOG: u32 = 9;
export const MATCH_LOG: u32 = 9;
export const OFFSET_LOG: u32 = 8;
export const DEFAULT_LITERAL_LOG: u32 = 6;
export const DEFAULT_MATCH_LOG: u32 = 6;
export const DEFAULT_OFFSET_LOG: u32 = 5;

/** For each code: the base value as u32, and the number of extra bits as u8. */
export const LITERAL_BASES = memory.data(4 * 36, 16);
export const LITERAL_BITS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
  16,
]);
export const MATCH_BASES = memory.data(4 * 53, 16);
export const MATCH_BITS = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2,
  2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
]);

export const DEFAULT_LITERAL_COUNTS = memory.data<i16>([
  4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
]);
export const DEFAULT_MATCH_COUNTS = memory.data<i16>([
  1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
  1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
]);
export const DEFAULT_OFFSET_COUNTS = memory.data<i16>([
  1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1,
]);

fillBases(LITERAL_BASES, LITERAL_BITS, 36, 0);
fillBases(MATCH_BASES, MATCH_BITS, 53, 3);

function fillBases(bases: usize, bits: usize, codes: usize, first: u32): void {
  let base = first;
  for (let code: usize = 0; code < codes; code++) {
    store<u32>(bases + (code << 2), base);
    base += 1 << <u32>load<u8>(bits + code);
  }
}
