import { corrupt } from "../../failures.ts";
import { MAX_ALPHABET, MAX_CODE_LENGTH, MAX_TABLES } from "./format.ts";

/** Codes of up to this many bits are found by one lookup. */
export const LOOKUP_BITS = 10;
const SYMBOL_BITS = 9;
export const SYMBOL_MASK = (1 << SYMBOL_BITS) - 1;
/** Entries of one table in `limits` and `offsets`: one per code length, from 0 on. */
export const LENGTHS = MAX_CODE_LENGTH + 1;

/** The Huffman tables of a block, one after another in each array. */
export class HuffmanTables {
  /** By table and next bits: the symbol and, above it, the code length; 0 if the code is longer. */
  readonly lookup = new Uint16Array(MAX_TABLES << LOOKUP_BITS);
  /** By table and code length: the first number that is neither a code of this length nor the start of a longer one. */
  readonly limits = new Int32Array(MAX_TABLES * LENGTHS);
  /** By table and code length: the offset from a code to its position in `symbols`. */
  readonly offsets = new Int32Array(MAX_TABLES * LENGTHS);
  /** By table: the symbols in the order of their codes. */
  readonly symbols = new Uint16Array(MAX_TABLES * MAX_ALPHABET);

  /**
   * Sets a table to the canonical codes with these lengths.
   *
   * @throws `corrupt-chunk` if the codes overlap.
   */
  set(table: number, lengths: Uint8Array): void {
    const counts = new Int32Array(LENGTHS);
    for (const length of lengths) counts[length] = (counts[length] as number) + 1;

    const first = table << LOOKUP_BITS;
    this.lookup.fill(0, first, first + (1 << LOOKUP_BITS));
    let place = table * MAX_ALPHABET;
    let code = 0;
    for (let length = 1; length <= MAX_CODE_LENGTH; length++) {
      code <<= 1;
      const count = counts[length] as number;
      if (code + count > 1 << length) throw corrupt("the Huffman codes of a bzip2 block overlap");
      this.offsets[table * LENGTHS + length] = place - code;
      this.limits[table * LENGTHS + length] = code + count;
      for (let symbol = 0; count > 0 && symbol < lengths.length; symbol++) {
        if (lengths[symbol] !== length) continue;
        this.symbols[place++] = symbol;
        const start = code++ << (LOOKUP_BITS - length);
        if (length > LOOKUP_BITS) continue;
        const end = code << (LOOKUP_BITS - length);
        this.lookup.fill((length << SYMBOL_BITS) | symbol, first + start, first + end);
      }
    }
  }
}

/** Code length of an entry of `lookup`. */
export function lengthOf(entry: number): number {
  return entry >>> SYMBOL_BITS;
}
