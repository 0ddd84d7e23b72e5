import { codeLengths } from "./code-lengths.ts";
import { GROUP_SIZE } from "./format.ts";
import type { ListSymbols } from "./list-symbols.ts";

/** The Huffman tables of a block, and the table of each group of symbols. */
export interface TableChoice {
  /** Code lengths by symbol, one array per table. */
  readonly tables: readonly Uint8Array[];
  readonly selectors: Uint8Array;
}

const ROUNDS = 4;
/** Initial cost of a symbol in a table that was not made for it. */
const FOREIGN_LENGTH = 15;
/** The costs of three tables are summed in one number; a group costs less than 2^10 bits. */
const SUM_BITS = 10;
const SUM_MASK = (1 << SUM_BITS) - 1;

/**
 * Starts with tables made for parts of the alphabet. Then repeats a few times: gives each group the table that encodes
 * it best, and rebuilds each table for its groups.
 */
export function chooseTables({ symbols, counts }: ListSymbols): TableChoice {
  const tables = firstTables(symbols.length, counts);
  const selectors = new Uint8Array(Math.ceil(symbols.length / GROUP_SIZE));
  const sums = tables.map(() => new Int32Array(counts.length));
  for (let round = 0; round < ROUNDS; round++) {
    for (const sum of sums) sum.fill(0);
    selectTables(symbols, tables, selectors);
    for (const [group, table] of selectors.entries()) {
      const sum = sums[table] as Int32Array;
      const end = Math.min((group + 1) * GROUP_SIZE, symbols.length);
      for (let i = group * GROUP_SIZE; i < end; i++) {
        const symbol = symbols[i] as number;
        sum[symbol] = (sum[symbol] as number) + 1;
      }
    }
    for (const [table, sum] of sums.entries()) codeLengths(sum, tables[table] as Uint8Array);
  }
  return { tables, selectors };
}

/** More symbols pay for more tables. */
function tableCountFor(size: number): number {
  if (size < 200) return 2;
  if (size < 600) return 3;
  if (size < 1200) return 4;
  return size < 2400 ? 5 : 6;
}

/** Divides the alphabet into parts that occur about equally often. */
function firstTables(size: number, counts: Int32Array): Uint8Array[] {
  const tables: Uint8Array[] = [];
  let symbol = 0;
  let left = size;
  for (let parts = tableCountFor(size); parts > 0; parts--) {
    const table = new Uint8Array(counts.length).fill(FOREIGN_LENGTH);
    const share = left / parts;
    let taken = 0;
    while (symbol < counts.length && (taken < share || parts === 1)) {
      const count = counts[symbol] as number;
      // If more than half of a symbol's count is beyond the share, the symbol goes to the next part.
      if (taken > 0 && parts > 1 && taken + count / 2 > share) break;
      taken += count;
      table[symbol++] = 0;
    }
    left -= taken;
    tables.push(table);
  }
  return tables;
}

function selectTables(symbols: Uint16Array, tables: readonly Uint8Array[], selectors: Uint8Array): void {
  const [first = EMPTY, second = EMPTY, third = EMPTY, ...others] = tables;
  const [fourth = EMPTY, fifth = EMPTY, sixth = EMPTY] = others;
  const low = summed(first, second, third, first.length);
  const high = summed(fourth, fifth, sixth, first.length);
  const costs = new Int32Array(tables.length);
  for (let group = 0; group < selectors.length; group++) {
    const end = Math.min((group + 1) * GROUP_SIZE, symbols.length);
    let lowSum = 0;
    let highSum = 0;
    for (let i = group * GROUP_SIZE; i < end; i++) {
      const symbol = symbols[i] as number;
      lowSum += low[symbol] as number;
      highSum += high[symbol] as number;
    }
    let best = 0;
    for (let table = 0; table < costs.length; table++) {
      const sum = table < 3 ? lowSum : highSum;
      costs[table] = (sum >>> (SUM_BITS * (table % 3))) & SUM_MASK;
      if ((costs[table] as number) < (costs[best] as number)) best = table;
    }
    selectors[group] = best;
  }
}

const EMPTY = new Uint8Array(0);

function summed(a: Uint8Array, b: Uint8Array, c: Uint8Array, size: number): Int32Array {
  return Int32Array.from(
    { length: size },
    (_, i) => (a[i] ?? 0) | ((b[i] ?? 0) << SUM_BITS) | ((c[i] ?? 0) << (2 * SUM_BITS)),
  );
}
