import { bitCount, highBit, nextBits, top } from "./bits";
import { nextState, readCounts, SPREAD, spreadSymbols, startStates, symbolCount, tableLog } from "./fse-table";

/** Huffman-coded literals of zstd: one stream, or four that are decoded alternately. */

const MAX_LOG: u32 = 11;
const MAX_WEIGHT: u32 = 11;
/** Weights are themselves encoded, with tables of at most 2^6 states. */
const WEIGHTS_LOG: u32 = 6;
const SYMBOLS_A_WORD = 5;
const FIRST: u64 = 64 - <u64>MAX_LOG;
const WEIGHTS = memory.data(256 + 8, 16);
const WEIGHT_STATES = memory.data(4 << WEIGHTS_LOG, 16);
const RANKS = memory.data(4 * 16, 16);
/** The first symbol of each word of `MAX_LOG` bits, and the bits that it takes. */
const SYMBOLS = memory.data(1 << MAX_LOG, 16);
const LENGTHS = memory.data(1 << MAX_LOG, 16);

/** Bits of the current table; 0 without a table. */
let log: u32 = 0;

/** Forgets the table at the start of a frame. */
export function forgetHuffman(): void {
  log = 0;
}

export function hasHuffman(): bool {
  return log != 0;
}

/** Reads a table. Returns the bytes read, or 0 if they are broken. */
export function readHuffman(source: usize, sourceEnd: usize): usize {
  log = 0;
  if (source >= sourceEnd) return 0;
  const header = <u32>load<u8>(source);
  let weights: u32;
  let size: usize;
  if (header >= 128) {
    weights = header - 127;
    size = <usize>(1 + ((weights + 1) >> 1));
    if (size > sourceEnd - source) return 0;
    for (let i: u32 = 0; i < weights; i += 2) {
      const pair = <u32>load<u8>(source + 1 + (i >> 1));
      store<u8>(WEIGHTS + i, <u8>(pair >> 4));
      store<u8>(WEIGHTS + i, <u8>(pair & 15), 1);
    }
  } else {
    size = <usize>(1 + header);
    if (size > sourceEnd - source) return 0;
    weights = decodeWeights(source + 1, source + size);
    if (weights == 0) return 0;
  }
  return fillSingles(weights) ? size : 0;
}

/** Decodes weights with two alternating states. Returns the number of weights, or 0 if they are broken. */
function decodeWeights(source: usize, sourceEnd: usize): u32 {
  const countsSize = readCounts(source, sourceEnd, WEIGHTS_LOG, MAX_WEIGHT + 1);
  if (countsSize == 0) return 0;
  const states = tableLog;
  spreadSymbols(states, symbolCount);
  startStates(symbolCount);
  for (let i: u32 = 0; i < 1 << states; i++) {
    const symbol = <u32>load<u8>(SPREAD + i);
    store<u32>(WEIGHT_STATES + (i << 2), nextState(symbol, states) | (symbol << 24));
  }

  const start = source + countsSize;
  let left = bitCount(start, sourceEnd);
  if (left < <i32>(2 * states)) return 0;
  const word = nextBits(start, left);
  let a = <u32>top(word, states);
  let b = <u32>top(word << states, states);
  left -= 2 * states;
  let count: u32 = 0;
  while (true) {
    if (count > 253) return 0;
    const entry = load<u32>(WEIGHT_STATES + (a << 2));
    store<u8>(WEIGHTS + count++, <u8>(entry >> 24));
    const bits = (entry >> 16) & 255;
    if (left < <i32>bits) {
      store<u8>(WEIGHTS + count++, <u8>(load<u32>(WEIGHT_STATES + (b << 2)) >> 24));
      return count;
    }
    const next = (entry & 0xffff) + <u32>top(nextBits(start, left), bits);
    left -= bits;
    a = b;
    b = next;
  }
}

/** Fills the table of single symbols. Returns true if the weights form a complete code. */
function fillSingles(weights: u32): bool {
  memory.fill(RANKS, 0, 4 * 16);
  let sum: u32 = 0;
  for (let i: u32 = 0; i < weights; i++) {
    const weight = <u32>load<u8>(WEIGHTS + i);
    if (weight > MAX_WEIGHT) return false;
    countRank(weight);
    sum += (1 << weight) >> 1;
  }
  if (sum == 0) return false;
  const bits = highBit(sum) + 1;
  const rest: u32 = (1 << bits) - sum;
  if (bits > MAX_LOG || (rest & (rest - 1)) != 0) return false;
  // The last weight is implied: it completes the sum.
  const lastWeight = highBit(rest) + 1;
  store<u8>(WEIGHTS + weights, <u8>lastWeight);
  countRank(lastWeight);
  const ones = load<u32>(RANKS + 4);
  if (ones < 2 || (ones & 1) != 0) return false;

  const scale = MAX_LOG - bits;
  let place: u32 = 0;
  for (let weight: u32 = 1; weight <= bits; weight++) {
    const count = load<u32>(RANKS + (weight << 2));
    store<u32>(RANKS + (weight << 2), place);
    place += count << (weight - 1 + scale);
  }
  for (let symbol: u32 = 0; symbol <= weights; symbol++) {
    const weight = <u32>load<u8>(WEIGHTS + symbol);
    if (weight == 0) continue;
    const first = load<u32>(RANKS + (weight << 2));
    const length: u32 = ((1 << weight) >> 1) << scale;
    store<u32>(RANKS + (weight << 2), first + length);
    memory.fill(SYMBOLS + first, <u8>symbol, length);
    memory.fill(LENGTHS + first, <u8>(bits + 1 - weight), length);
  }
  log = bits;
  return true;
}

// @ts-ignore: decorator
@inline
function countRank(weight: u32): void {
  store<u32>(RANKS + (weight << 2), load<u32>(RANKS + (weight << 2)) + 1);
}

/**
 * Decodes exactly `size` literals from one stream, or from four after their sizes. Returns true if all were complete.
 */
export function decodeHuffman(source: usize, sourceEnd: usize, target: usize, size: usize, streams: u32): bool {
  if (streams == 1) {
    const left = bitCount(source, sourceEnd);
    return left > 0 && decodeStream(source, left, target, target + size);
  }
  if (size < 6 || sourceEnd - source < 10) return false;
  const quarter = (size + 3) >> 2;
  const start0 = source + 6;
  const start1 = start0 + <usize>load<u16>(source);
  const start2 = start1 + <usize>load<u16>(source, 2);
  const start3 = start2 + <usize>load<u16>(source, 4);
  if (start3 >= sourceEnd || quarter * 3 > size) return false;
  let left0 = bitCount(start0, start1);
  let left1 = bitCount(start1, start2);
  let left2 = bitCount(start2, start3);
  let left3 = bitCount(start3, sourceEnd);
  if (left0 <= 0 || left1 <= 0 || left2 <= 0 || left3 <= 0) return false;

  const end0 = target + quarter;
  const end1 = end0 + quarter;
  const end2 = end1 + quarter;
  const end3 = target + size;
  let t0 = target;
  let t1 = end0;
  let t2 = end1;
  let t3 = end2;
  let place0 = placeOf(start0, left0);
  let place1 = placeOf(start1, left1);
  let place2 = placeOf(start2, left2);
  let place3 = placeOf(start3, left3);
  let taken0 = takenOf(left0);
  let taken1 = takenOf(left1);
  let taken2 = takenOf(left2);
  let taken3 = takenOf(left3);
  // This may read bytes before a stream; they do not affect the result.
  for (; t3 + SYMBOLS_A_WORD <= end3; t3 += SYMBOLS_A_WORD) {
    taken0 = fiveSingles(load<u64>(place0), taken0, t0);
    place0 -= <usize>(taken0 >> 3);
    taken0 &= 7;
    t0 += SYMBOLS_A_WORD;
    taken1 = fiveSingles(load<u64>(place1), taken1, t1);
    place1 -= <usize>(taken1 >> 3);
    taken1 &= 7;
    t1 += SYMBOLS_A_WORD;
    taken2 = fiveSingles(load<u64>(place2), taken2, t2);
    place2 -= <usize>(taken2 >> 3);
    taken2 &= 7;
    t2 += SYMBOLS_A_WORD;
    taken3 = fiveSingles(load<u64>(place3), taken3, t3);
    place3 -= <usize>(taken3 >> 3);
    taken3 &= 7;
  }
  left0 = leftAt(start0, place0, taken0);
  left1 = leftAt(start1, place1, taken1);
  left2 = leftAt(start2, place2, taken2);
  left3 = leftAt(start3, place3, taken3);
  return (
    decodeStream(start0, left0, t0, end0) &&
    decodeStream(start1, left1, t1, end1) &&
    decodeStream(start2, left2, t2, end2) &&
    decodeStream(start3, left3, t3, end3)
  );
}

// @ts-ignore: decorator
@inline
function placeOf(start: usize, left: i32): usize {
  return start + (left >> 3) - 7;
}

// @ts-ignore: decorator
@inline
function takenOf(left: i32): u64 {
  return <u64>(8 - (left & 7));
}

// @ts-ignore: decorator
@inline
function leftAt(start: usize, place: usize, taken: u64): i32 {
  return (<i32>(place + 7 - start) << 3) + 8 - <i32>taken;
}

/**
 * Decodes five symbols. Returns the bits taken. Decoding one stream after another needs few registers, and the
 * processor finds the independent instructions.
 */
// @ts-ignore: decorator
@inline
function fiveSingles(word: u64, taken: u64, t: usize): u64 {
  word <<= taken;
  const a = <usize>(word >> FIRST);
  store<u8>(t, load<u8>(a, SYMBOLS), 0);
  const aBits = <u64>load<u8>(a, LENGTHS);
  word <<= aBits;
  const b = <usize>(word >> FIRST);
  store<u8>(t, load<u8>(b, SYMBOLS), 1);
  const bBits = <u64>load<u8>(b, LENGTHS);
  word <<= bBits;
  const c = <usize>(word >> FIRST);
  store<u8>(t, load<u8>(c, SYMBOLS), 2);
  const cBits = <u64>load<u8>(c, LENGTHS);
  word <<= cBits;
  const d = <usize>(word >> FIRST);
  store<u8>(t, load<u8>(d, SYMBOLS), 3);
  const dBits = <u64>load<u8>(d, LENGTHS);
  word <<= dBits;
  const e = <usize>(word >> FIRST);
  store<u8>(t, load<u8>(e, SYMBOLS), 4);
  return taken + aBits + bBits + cBits + dBits + <u64>load<u8>(e, LENGTHS);
}

/** Decodes the rest of a stream up to `end`. Returns true if that took all of its bits. */
function decodeStream(start: usize, left: i32, t: usize, end: usize): bool {
  while (t + SYMBOLS_A_WORD <= end && left >= 64) {
    const taken = takenOf(left);
    left -= <i32>(fiveSingles(load<u64>(placeOf(start, left)), taken, t) - taken);
    t += SYMBOLS_A_WORD;
  }
  while (t < end && left > 0) {
    const word = <usize>(nextBits(start, left) >> FIRST);
    store<u8>(t++, load<u8>(word, SYMBOLS));
    left -= <i32>load<u8>(word, LENGTHS);
  }
  return t == end && left == 0;
}
