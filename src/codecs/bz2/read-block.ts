import { corrupt } from "../limits.ts";
import { type BitReader, GROUP_SIZE, MAX_ALPHABET, MAX_CODE_LENGTH, MAX_TABLES, RUN_B } from "./bits.ts";

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

/** The most groups a block can have; writers may state more as padding. */
const MAX_SELECTORS = 18_002;

/**
 * Reads a block after its origin: tables, then symbols, which are converted back to bytes.
 *
 * @param column receives the bytes: the last column of the sorted rotations.
 * @returns the bytes of the block; if the block is larger than `column`, any number larger than `column`.
 * @throws `corrupt-chunk`
 */
export function readBlock(bits: BitReader, tables: HuffmanTables, column: Int32Array): number {
  const list = readList(bits);
  const alphabetSize = list.length + 2;
  const tableCount = bits.read(3);
  if (tableCount < 2 || tableCount > MAX_TABLES) throw corrupt("a bzip2 block has a wrong number of tables");
  const selectors = readSelectors(bits, tableCount);
  readTables(bits, tables, tableCount, alphabetSize);
  return readSymbols(bits, tables, selectors, list, column);
}

/**
 * Reads the byte values in use, in order: the initial move-to-front list. Sixteen bits mark the sixteenths that contain
 * any.
 */
function readList(bits: BitReader): Uint8Array {
  const list: number[] = [];
  const parts = bits.read(16);
  for (let part = 0; part < 16; part++) {
    if (((parts << part) & 0x8000) === 0) continue;
    const used = bits.read(16);
    for (let i = 0; i < 16; i++) if ((used << i) & 0x8000) list.push(16 * part + i);
  }
  if (list.length === 0) throw corrupt("a bzip2 block uses no byte values");
  return Uint8Array.from(list);
}

/** Reads the table of each group, stored as its position in a move-to-front list, in unary. */
function readSelectors(bits: BitReader, tableCount: number): Uint8Array {
  const count = bits.read(15);
  if (count === 0) throw corrupt("a bzip2 block has no groups");
  const selectors = new Uint8Array(Math.min(count, MAX_SELECTORS));
  const list = Uint8Array.from({ length: tableCount }, (_, table) => table);
  for (let i = 0; i < count; i++) {
    let place = 0;
    while (bits.read(1) === 1) {
      if (++place === tableCount) throw corrupt("a bzip2 group selects a table that does not exist");
    }
    const table = list[place] as number;
    list.copyWithin(1, 0, place);
    list[0] = table;
    if (i < selectors.length) selectors[i] = table;
    bits.assertWhole();
  }
  return selectors;
}

/** Reads code lengths, each stored as the difference from the previous one. */
function readTables(bits: BitReader, tables: HuffmanTables, count: number, alphabetSize: number): void {
  const lengths = new Uint8Array(alphabetSize);
  for (let table = 0; table < count; table++) {
    let length = bits.read(5);
    for (let symbol = 0; symbol < alphabetSize; symbol++) {
      for (;;) {
        if (length < 1 || length > MAX_CODE_LENGTH) throw corrupt("a bzip2 code is too long or empty");
        if (bits.read(1) === 0) break;
        length += bits.read(1) === 0 ? 1 : -1;
      }
      lengths[symbol] = length;
    }
    bits.assertWhole();
    tables.set(table, lengths);
  }
}

/**
 * Reads symbols up to the end of the block and converts them to bytes.
 *
 * @returns as `readBlock`.
 */
function readSymbols(
  bits: BitReader,
  { lookup, limits, offsets, symbols }: HuffmanTables,
  selectors: Uint8Array,
  list: Uint8Array,
  column: Int32Array,
): number {
  const { source } = bits;
  const end = list.length + 1;
  let { position, held, count } = bits;
  let size = 0;
  let zeros = 0;
  let digit = 1;
  let symbol = 0;

  groups: for (const table of selectors) {
    for (let i = 0; i < GROUP_SIZE; i++) {
      while (count < MAX_CODE_LENGTH) {
        held = (held << 8) | (position < source.length ? (source[position] as number) : 0);
        position++;
        count += 8;
      }
      const next = (held >>> (count - LOOKUP_BITS)) & ((1 << LOOKUP_BITS) - 1);
      const entry = lookup[(table << LOOKUP_BITS) | next] as number;
      symbol = entry & SYMBOL_MASK;
      if (entry !== 0) {
        count -= lengthOf(entry);
      } else {
        let length = LOOKUP_BITS + 1;
        let code = 0;
        for (; length <= MAX_CODE_LENGTH; length++) {
          code = (held >>> (count - length)) & ((1 << length) - 1);
          if (code < (limits[table * LENGTHS + length] as number)) break;
        }
        if (length > MAX_CODE_LENGTH) break groups;
        symbol = symbols[code + (offsets[table * LENGTHS + length] as number)] as number;
        count -= length;
      }

      if (symbol <= RUN_B) {
        zeros += digit << symbol;
        digit <<= 1;
        if (zeros > column.length) break groups;
        continue;
      }
      if (zeros > 0) {
        column.fill(list[0] as number, size, size + zeros);
        size += zeros;
        zeros = 0;
        if (size > column.length) break groups;
        digit = 1;
      }
      if (symbol === end) break groups;
      if (size < column.length) column[size] = moveToFront(list, symbol - 1);
      if (++size > column.length) break groups;
    }
  }

  bits.position = position;
  bits.held = held;
  bits.count = count;
  bits.assertWhole();
  if (symbol !== end && size + zeros <= column.length) {
    throw corrupt("a bzip2 block has no end, or a code that is not in its table");
  }
  return size + zeros;
}

/** For moves shorter than this a loop is faster than a call. */
const SHORT_MOVE = 24;

function moveToFront(list: Uint8Array, place: number): number {
  const byte = list[place] as number;
  if (place < SHORT_MOVE) for (let i = place; i > 0; i--) list[i] = list[i - 1] as number;
  else list.copyWithin(1, 0, place);
  list[0] = byte;
  return byte;
}

/** Bytes that reading a block takes besides its column. */
export const TABLES_SIZE =
  MAX_TABLES * (2 * (1 << LOOKUP_BITS) + 8 * LENGTHS + 2 * MAX_ALPHABET) + MAX_SELECTORS;
