import { type BitWriter, GROUP_SIZE, MAX_ALPHABET, RUN_A, RUN_B } from "./bits.ts";

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

/** The Huffman tables of a block, and the table of each group of symbols. */
export interface TableChoice {
  /** Code lengths by symbol, one array per table. */
  readonly tables: readonly Uint8Array[];
  readonly selectors: Uint8Array;
}

const ROUNDS = 4;
/** Initial cost of a symbol in a table that was not made for it. */
const FOREIGN_LENGTH = 15;
/** Bits per sum: one number holds the costs for three tables, and a group costs less than 2^10 bits. */
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

/** The longest code that the reference encoder writes; decoders accept longer ones. */
const MAX_LENGTH = 17;
/** Counts are multiplied by this, which is above the number of symbols, so that count and symbol sort as one number. */
const SYMBOL_SCALE = 512;

/**
 * Computes the Huffman code lengths of symbols that occur `counts` times; unused symbols get a code too. If a code is
 * too long, halves the counts until it fits.
 *
 * @param lengths filled with the result.
 */
export function codeLengths(counts: Int32Array, lengths: Uint8Array): void {
  const size = counts.length;
  const weights = new Int32Array(2 * size);
  const parents = new Int32Array(2 * size);
  const order = new Float64Array(size);
  for (let halvings = 0; ; halvings++) {
    for (let i = 0; i < size; i++)
      order[i] = Math.max(1, (counts[i] as number) >> halvings) * SYMBOL_SCALE + i;
    order.sort();
    for (let i = 0; i < size; i++) weights[i] = Math.floor((order[i] as number) / SYMBOL_SCALE);
    join(weights, parents, size);
    // From the root down, replace the parent of each node by its depth.
    parents[2 * size - 2] = 0;
    for (let node = 2 * size - 3; node >= 0; node--) {
      parents[node] = (parents[parents[node] as number] as number) + 1;
    }
    if ((parents[0] as number) <= MAX_LENGTH) break;
  }
  for (let i = 0; i < size; i++) lengths[(order[i] as number) % SYMBOL_SCALE] = parents[i] as number;
}

/** Repeatedly joins the two lightest nodes, taken from the sorted leaves and the nodes created so far. */
function join(weights: Int32Array, parents: Int32Array, leaves: number): void {
  let leaf = 0;
  let inner = leaves;
  for (let node = leaves; node < 2 * leaves - 1; node++) {
    let weight = 0;
    for (let child = 0; child < 2; child++) {
      const takesLeaf =
        leaf < leaves && (inner === node || (weights[leaf] as number) <= (weights[inner] as number));
      const taken = takesLeaf ? leaf++ : inner++;
      weight += weights[taken] as number;
      parents[taken] = node;
    }
    weights[node] = weight;
  }
}

/** The last column of a block as symbols: positions in a move-to-front list, with counted zeros. */
export interface ListSymbols {
  readonly symbols: Uint16Array;
  /** Number of occurrences of each symbol; as long as the alphabet. */
  readonly counts: Int32Array;
  /** 1 for each byte value that occurs. */
  readonly used: Uint8Array;
}

/** For moves shorter than this a loop is faster than a call. */
const SHORT_MOVE = 24;

/** @param space receives the symbols; one entry longer than the column. */
export function listSymbols(column: Uint8Array, space: Uint16Array): ListSymbols {
  const used = new Uint8Array(256);
  for (let i = 0; i < column.length; i++) used[column[i] as number] = 1;
  const list = Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => used[byte] === 1);
  const end = list.length + 1;
  const counts = new Int32Array(MAX_ALPHABET);
  let size = 0;
  let zeros = 0;

  const put = (symbol: number) => {
    space[size++] = symbol;
    counts[symbol] = (counts[symbol] as number) + 1;
  };
  /** Writes the count of zeros with the digits one and two, the lowest digit first. */
  const putZeros = () => {
    for (let left = zeros; left > 0; left = (left - 1) >> 1) put(left & 1 ? RUN_A : RUN_B);
    zeros = 0;
  };

  let front = list[0];
  for (let i = 0; i < column.length; i++) {
    const byte = column[i] as number;
    if (byte === front) {
      zeros++;
      continue;
    }
    if (zeros > 0) putZeros();
    const place = placeOf(byte, list);
    if (place < SHORT_MOVE) for (let k = place; k > 0; k--) list[k] = list[k - 1] as number;
    else list.copyWithin(1, 0, place);
    list[0] = byte;
    front = byte;
    put(place + 1);
  }
  putZeros();
  put(end);
  return { symbols: space.subarray(0, size), counts: counts.subarray(0, end + 1), used };
}

function placeOf(byte: number, list: Uint8Array): number {
  const near = Math.min(SHORT_MOVE, list.length);
  for (let place = 1; place < near; place++) if (list[place] === byte) return place;
  return list.indexOf(byte, near);
}
