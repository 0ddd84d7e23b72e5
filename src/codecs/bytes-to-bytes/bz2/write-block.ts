import type { BitWriter } from "./bit-writer.ts";
import { chooseTables, type TableChoice } from "./choose-tables.ts";
import { GROUP_SIZE } from "./format.ts";
import type { ListSymbols } from "./list-symbols.ts";

/** Writes a block after its origin: bytes in use, tables, symbols. */
export function writeBlock(bits: BitWriter, list: ListSymbols): void {
  const choice = chooseTables(list);
  writeUsed(bits, list.used);
  writeSelectors(bits, choice);
  for (const lengths of choice.tables) writeLengths(bits, lengths);
  writeSymbols(bits, list.symbols, choice);
}

/** Writes sixteen bits that mark the sixteenths with bytes in use, then sixteen bits for each of these. */
function writeUsed(bits: BitWriter, used: Uint8Array): void {
  const masks = Array.from({ length: 16 }, (_, part) => maskOf(used.subarray(16 * part, 16 * part + 16)));
  bits.write(16, maskOf(masks));
  for (const mask of masks) if (mask !== 0) bits.write(16, mask);
}

function maskOf(flags: ArrayLike<number>): number {
  let mask = 0;
  for (let i = 0; i < flags.length; i++) mask = (mask << 1) | (flags[i] === 0 ? 0 : 1);
  return mask;
}

/** Writes the positions of the selected tables in a move-to-front list, in unary. */
function writeSelectors(bits: BitWriter, { tables, selectors }: TableChoice): void {
  bits.write(3, tables.length);
  bits.write(15, selectors.length);
  const list = [...tables.keys()];
  for (const table of selectors) {
    const place = list.indexOf(table);
    list.splice(place, 1);
    list.unshift(table);
    bits.write(place + 1, (1 << (place + 1)) - 2);
  }
}

/** Writes the first length, then each length in steps from the previous one: `10` up, `11` down, `0` end. */
function writeLengths(bits: BitWriter, lengths: Uint8Array): void {
  let now = lengths[0] as number;
  bits.write(5, now);
  for (const length of lengths) {
    for (; now < length; now++) bits.write(2, 0b10);
    for (; now > length; now--) bits.write(2, 0b11);
    bits.write(1, 0);
  }
}

function writeSymbols(bits: BitWriter, symbols: Uint16Array, { tables, selectors }: TableChoice): void {
  const codes = tables.map(canonicalCodes);
  for (let group = 0; group < selectors.length; group++) {
    const table = selectors[group] as number;
    const lengths = tables[table] as Uint8Array;
    const values = codes[table] as Int32Array;
    const end = Math.min((group + 1) * GROUP_SIZE, symbols.length);
    for (let i = group * GROUP_SIZE; i < end; i++) {
      const symbol = symbols[i] as number;
      bits.write(lengths[symbol] as number, values[symbol] as number);
    }
  }
}

/** Assigns codes in the order of their lengths, then of their symbols. */
function canonicalCodes(lengths: Uint8Array): Int32Array {
  const codes = new Int32Array(lengths.length);
  let code = 0;
  const longest = Math.max(...lengths);
  for (let length = 1; length <= longest; length++) {
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] === length) codes[symbol] = code++;
    }
    code <<= 1;
  }
  return codes;
}
