import { addBits, endBits, flushBits, startBits } from "./bit-writer";
import { highBit } from "./bits";
import {
  bitsOut,
  firstState,
  makeTable,
  scaleCounts,
  stateBefore,
  suitableLog,
  TABLE_SIZE,
  writeCounts,
} from "./fse-encode";

/** Huffman coding of literals as zstd has it: codes of 11 bits at most, in one stream or four. */

const MAX_LOG: u32 = 11;
const WEIGHTS_LOG: u32 = 6;
const SYMBOLS: u32 = 256;

const HISTOGRAM = memory.data(4 * 256 * 4, 16);
/** Symbols by count, the least first, as count << 8 | symbol; then depths in the same order. */
const SORTED = memory.data(4 * 257, 16);
const BUCKETS = memory.data(4 * 224, 16);
/** Codes as u32: bits in the low byte, the code above. One table is being made, the other was written last. */
const CODES_A = memory.data(4 * 256, 16);
const CODES_B = memory.data(4 * 256, 16);
const RANKS = memory.data(4 * 16, 16);
const WEIGHTS = memory.data(256, 16);
const WEIGHT_COUNTS = memory.data(4 * 16, 16);
const WEIGHT_TABLE = memory.data(TABLE_SIZE, 16);
const DESCRIPTION = memory.data(160, 16);

let made: usize = CODES_A;
let written: usize = CODES_B;
let hasWritten = false;
let symbols: u32 = 0;
let log: u32 = 0;

/** Forgets the table written last: another frame begins. */
export function forgetCodes(): void {
  hasWritten = false;
}

/**
 * Writes a section of literals, coded where that makes it smaller. Returns the place behind it.
 */
export function writeLiterals(target: usize, source: usize, size: usize): usize {
  if (size < 64) return writePlain(target, source, size);
  const most = count(source, size);
  if (most == <u32>size) {
    const t = writeHeader(target, 1, size);
    store<u8>(t, load<u8>(source));
    return t + 1;
  }
  // Nearly even: not worth a try.
  if (most <= <u32>(size >> 7) + 4) return writePlain(target, source, size);

  makeCodes(<u32>size, most);
  const descriptionSize = describe();
  const fresh = descriptionSize > 0 ? bitsWith(made) : u64.MAX_VALUE;
  const again = hasWritten ? bitsWith(written) : u64.MAX_VALUE;
  if ((fresh & again) == u64.MAX_VALUE) return writePlain(target, source, size);
  const isAgain = again < fresh || again - fresh <= <u64>descriptionSize << 3;
  const streams: u32 = size < 256 ? 1 : 4;
  const contentSize = <usize>((isAgain ? again : fresh) >> 3) + 10 + (isAgain ? 0 : descriptionSize);
  if (contentSize + (size >> 6) + 2 >= size) return writePlain(target, source, size);

  const headerSize: usize = size < 1024 ? 3 : size < 16384 ? 4 : 5;
  let t = target + headerSize;
  if (!isAgain) {
    memory.copy(t, DESCRIPTION, descriptionSize);
    t += descriptionSize;
    const before = written;
    written = made;
    made = before;
    hasWritten = true;
  }
  if (streams == 1) t = writeStream(t, source, source + size);
  else {
    const jumps = t;
    const quarter = (size + 3) >> 2;
    const start0 = t + 6;
    const start1 = writeStream(start0, source, source + quarter);
    const start2 = writeStream(start1, source + quarter, source + 2 * quarter);
    const start3 = writeStream(start2, source + 2 * quarter, source + 3 * quarter);
    t = writeStream(start3, source + 3 * quarter, source + size);
    store<u16>(jumps, <u16>(start1 - start0));
    store<u16>(jumps, <u16>(start2 - start1), 2);
    store<u16>(jumps, <u16>(start3 - start2), 4);
  }
  const kind: u64 = isAgain ? 3 : 2;
  const encodedSize = <u64>(t - target - headerSize);
  const form: u64 = streams == 1 ? 0 : headerSize - 2;
  const bits: u64 = headerSize == 3 ? 10 : headerSize == 4 ? 14 : 18;
  const header = kind | (form << 2) | (<u64>size << 4) | (encodedSize << (4 + bits));
  store<u16>(target, <u16>header);
  store<u8>(target, <u8>(header >> 16), 2);
  if (headerSize > 3) store<u8>(target, <u8>(header >> 24), 3);
  if (headerSize > 4) store<u8>(target, <u8>(header >> 32), 4);
  return t;
}

/** Writes a section of literals as they are. Returns the place behind it. */
export function writePlain(target: usize, source: usize, size: usize): usize {
  const t = writeHeader(target, 0, size);
  memory.copy(t, source, size);
  return t + size;
}

/** The header of literals that are stored plainly (kind 0), or are all the same (1). */
function writeHeader(target: usize, kind: u32, size: usize): usize {
  if (size < 32) {
    store<u8>(target, <u8>(kind | (<u32>size << 3)));
    return target + 1;
  }
  if (size < 4096) {
    store<u16>(target, <u16>(kind | 4 | (<u32>size << 4)));
    return target + 2;
  }
  const header = kind | 12 | (<u32>size << 4);
  store<u16>(target, <u16>header);
  store<u8>(target, <u8>(header >> 16), 2);
  return target + 3;
}

/** Counts bytes to `HISTOGRAM`. Returns the largest count; `symbols` is one above the highest byte. */
function count(source: usize, size: usize): u32 {
  memory.fill(HISTOGRAM, 0, 4 * 1024);
  let s = source;
  const end = source + size;
  // Four tables: runs do not wait for the count before.
  for (const wide = source + (size & ~7); s < wide; s += 8) {
    const word = load<u64>(s);
    countOne(<u32>word & 255, 0);
    countOne((<u32>word >> 8) & 255, 1024);
    countOne((<u32>word >> 16) & 255, 2048);
    countOne(<u32>word >> 24, 3072);
    const high = <u32>(word >> 32);
    countOne(high & 255, 0);
    countOne((high >> 8) & 255, 1024);
    countOne((high >> 16) & 255, 2048);
    countOne(high >> 24, 3072);
  }
  for (; s < end; s++) countOne(<u32>load<u8>(s), 0);
  let mosts = i32x4.splat(0);
  for (let at = HISTOGRAM; at < HISTOGRAM + 1024; at += 16) {
    const sums = i32x4.add(
      i32x4.add(v128.load(at), v128.load(at, 1024)),
      i32x4.add(v128.load(at, 2048), v128.load(at, 3072)),
    );
    v128.store(at, sums);
    mosts = i32x4.max_u(mosts, sums);
  }
  symbols = SYMBOLS;
  while (load<u32>(HISTOGRAM - 4 + (symbols << 2)) == 0) symbols--;
  return max(
    max(i32x4.extract_lane(mosts, 0), i32x4.extract_lane(mosts, 1)),
    max(i32x4.extract_lane(mosts, 2), i32x4.extract_lane(mosts, 3)),
  );
}

// @ts-ignore: decorator
@inline
function countOne(symbol: u32, table: usize): void {
  const at = HISTOGRAM + table + (symbol << 2);
  store<u32>(at, load<u32>(at) + 1);
}

/** Makes codes of at most `MAX_LOG` bits for the symbols that occur, of which there are two or more. */
function makeCodes(size: u32, most: u32): void {
  const used = sortByCount(most);
  measureDepths(used);
  const bySize = max(highBit(size - 1) - 1, 5);
  assertDepths(used, max(min(MAX_LOG, bySize), highBit(used) + 1));

  memory.fill(RANKS, 0, 4 * 16);
  log = 0;
  for (let i: u32 = 0; i < used; i++) {
    const depth = load<u32>(SORTED + (i << 2)) >> 8;
    const at = RANKS + (depth << 2);
    store<u32>(at, load<u32>(at) + 1);
    log = max(log, depth);
  }
  // The longest codes come first.
  let code: u32 = 0;
  for (let depth = log; depth > 0; depth--) {
    const at = RANKS + (depth << 2);
    const first = code;
    code = (code + load<u32>(at)) >> 1;
    store<u32>(at, first);
  }
  memory.fill(made, 0, 4 * 256);
  for (let i: u32 = 0; i < used; i++) {
    const entry = load<u32>(SORTED + (i << 2));
    store<u32>(made + ((entry & 255) << 2), entry >> 8);
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const depth = load<u32>(made + (symbol << 2));
    if (depth == 0) continue;
    const at = RANKS + (depth << 2);
    const next = load<u32>(at);
    store<u32>(at, next + 1);
    store<u32>(made + (symbol << 2), depth | (next << 8));
  }
}

/** Sorts the symbols that occur: roughly by buckets up to the largest count, then exactly. Returns how many they are. */
function sortByCount(most: u32): u32 {
  const buckets = bucketOf(most) + 1;
  memory.fill(BUCKETS, 0, <usize>buckets << 2);
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(HISTOGRAM + (symbol << 2));
    if (count == 0) continue;
    const at = BUCKETS + (bucketOf(count) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  let used: u32 = 0;
  for (let bucket: u32 = 0; bucket < buckets; bucket++) {
    const at = BUCKETS + (bucket << 2);
    const count = load<u32>(at);
    store<u32>(at, used);
    used += count;
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(HISTOGRAM + (symbol << 2));
    if (count == 0) continue;
    const at = BUCKETS + (bucketOf(count) << 2);
    const place = load<u32>(at);
    store<u32>(at, place + 1);
    store<u32>(SORTED + (place << 2), (count << 8) | symbol);
  }
  for (let i: u32 = 1; i < used; i++) {
    const entry = load<u32>(SORTED + (i << 2));
    let j = i;
    for (; j > 0 && load<u32>(SORTED + ((j - 1) << 2)) > entry; j--) {
      store<u32>(SORTED + (j << 2), load<u32>(SORTED + ((j - 1) << 2)));
    }
    store<u32>(SORTED + (j << 2), entry);
  }
  return used;
}

/** One each for counts below 128, eight for each power of two above. */
// @ts-ignore: decorator
@inline
function bucketOf(count: u32): u32 {
  if (count < 128) return count;
  const high = highBit(count);
  return (high << 3) + 72 + ((count >> (high - 3)) & 7);
}

const TREE = memory.data(4 * 257, 16);

/**
 * Replaces the counts in `SORTED` by depths in the tree of Huffman, computed in place: first sums and parents, then
 * depths of inner nodes, then those of leaves.
 */
function measureDepths(used: u32): void {
  for (let i: u32 = 0; i < used; i++) store<u32>(TREE + (i << 2), load<u32>(SORTED + (i << 2)) >> 8);
  let leaf: u32 = 2;
  let root: u32 = 0;
  store<u32>(TREE, load<u32>(TREE) + load<u32>(TREE, 4));
  for (let next: u32 = 1; next < used - 1; next++) {
    let sum: u32;
    if (leaf >= used || load<u32>(TREE + (root << 2)) < load<u32>(TREE + (leaf << 2))) {
      sum = load<u32>(TREE + (root << 2));
      store<u32>(TREE + (root++ << 2), next);
    } else sum = load<u32>(TREE + (leaf++ << 2));
    if (leaf >= used || (root < next && load<u32>(TREE + (root << 2)) < load<u32>(TREE + (leaf << 2)))) {
      sum += load<u32>(TREE + (root << 2));
      store<u32>(TREE + (root++ << 2), next);
    } else sum += load<u32>(TREE + (leaf++ << 2));
    store<u32>(TREE + (next << 2), sum);
  }
  store<u32>(TREE + ((used - 2) << 2), 0);
  for (let i = <i32>used - 3; i >= 0; i--) {
    const parent = load<u32>(TREE + (i << 2));
    store<u32>(TREE + (i << 2), load<u32>(TREE + (parent << 2)) + 1);
  }
  let available: u32 = 1;
  let inner: u32 = 0;
  let depth: u32 = 0;
  let node = <i32>used - 2;
  let place = <i32>used - 1;
  while (available > 0) {
    while (node >= 0 && load<u32>(TREE + (node << 2)) == depth) {
      inner++;
      node--;
    }
    for (; available > inner; available--, place--) {
      const at = SORTED + (place << 2);
      store<u32>(at, (depth << 8) | (load<u32>(at) & 255));
    }
    available = 2 * inner;
    inner = 0;
    depth++;
  }
}

/** Shortens codes to `most` bits, at the cost of the least frequent ones that can be longer. */
function assertDepths(used: u32, most: u32): void {
  if (load<u32>(SORTED) >> 8 <= most) return;
  let excess: i32 = -(<i32>1 << most);
  for (let i: u32 = 0; i < used; i++) {
    const at = SORTED + (i << 2);
    const entry = load<u32>(at);
    const depth = min(entry >> 8, most);
    store<u32>(at, (depth << 8) | (entry & 255));
    excess += 1 << (most - depth);
  }
  for (let i: u32 = 0; excess > 0; i = i + 1 == used ? 0 : i + 1) {
    const at = SORTED + (i << 2);
    const entry = load<u32>(at);
    const depth = entry >> 8;
    if (depth == most) continue;
    const gain: i32 = 1 << (most - depth - 1);
    store<u32>(at, entry + 256);
    excess -= gain;
  }
  // What was gained too much goes to the most frequent that can take it.
  for (let i = <i32>used - 1; i >= 0 && excess < 0; i--) {
    const at = SORTED + (i << 2);
    const entry = load<u32>(at);
    const depth = entry >> 8;
    const loss: i32 = 1 << (most - depth);
    if (depth > 1 && loss <= -excess) {
      store<u32>(at, entry - 256);
      excess += loss;
      i++;
    }
  }
}

/** Bits of all literals with these codes; the largest number where a symbol has none. */
function bitsWith(codes: usize): u64 {
  let bits: u64 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(HISTOGRAM + (symbol << 2));
    if (count == 0) continue;
    const depth = load<u32>(codes + (symbol << 2)) & 255;
    if (depth == 0) return u64.MAX_VALUE;
    bits += <u64>count * <u64>depth;
  }
  return bits;
}

/** Describes the codes made, to `DESCRIPTION`. Returns the bytes, or 0 where that cannot be done. */
function describe(): usize {
  const weights = symbols - 1;
  memory.fill(WEIGHT_COUNTS, 0, 4 * 16);
  for (let symbol: u32 = 0; symbol < weights; symbol++) {
    const depth = load<u32>(made + (symbol << 2)) & 255;
    const weight = depth == 0 ? 0 : log + 1 - depth;
    store<u8>(WEIGHTS + symbol, <u8>weight);
    const at = WEIGHT_COUNTS + (weight << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  store<u8>(WEIGHTS + weights, 0);
  const coded = codeWeights(weights);
  const plain = weights <= 128 ? <usize>(weights + 1) >> 1 : 256;
  if (coded > 0 && coded < plain && coded < 128) {
    store<u8>(DESCRIPTION, <u8>coded);
    return coded + 1;
  }
  if (weights > 128) return 0;
  store<u8>(DESCRIPTION, <u8>(127 + weights));
  for (let i: u32 = 0; i < weights; i += 2) {
    const pair = (load<u8>(WEIGHTS + i) << 4) | load<u8>(WEIGHTS + i, 1);
    store<u8>(DESCRIPTION + 1 + (i >> 1), pair);
  }
  return plain + 1;
}

/** Codes the weights by two states that take turns, behind the first byte. Returns the bytes, or 0. */
function codeWeights(weights: u32): usize {
  let differing: u32 = 0;
  let highest: u32 = 0;
  for (let weight: u32 = 0; weight < 16; weight++) {
    const count = load<u32>(WEIGHT_COUNTS + (weight << 2));
    if (count == 0) continue;
    if (count == weights) return 0;
    differing++;
    highest = weight;
  }
  if (differing < 2 || weights < 4) return 0;
  const states = min(suitableLog(WEIGHTS_LOG, weights, highest + 1), WEIGHTS_LOG);
  scaleCounts(WEIGHT_COUNTS, highest + 1, weights, states);
  const start = writeCounts(DESCRIPTION + 1, highest + 1, states);
  makeTable(WEIGHT_TABLE, highest + 1, states);
  startBits(start);
  // The last weights are written first; the states of even and odd places take turns.
  let i = weights - 1;
  let a = firstState(WEIGHT_TABLE, <u32>load<u8>(WEIGHTS + i));
  i--;
  let b = firstState(WEIGHT_TABLE, <u32>load<u8>(WEIGHTS + i));
  while (i > 0) {
    i--;
    const weight = <u32>load<u8>(WEIGHTS + i);
    const bits = bitsOut(WEIGHT_TABLE, weight, a);
    addBits(<u64>(a & ((1 << bits) - 1)), <u64>bits);
    flushBits();
    const next = stateBefore(WEIGHT_TABLE, weight, a, bits);
    a = b;
    b = next;
  }
  addBits(<u64>(a & ((1 << states) - 1)), <u64>states);
  addBits(<u64>(b & ((1 << states) - 1)), <u64>states);
  flushBits();
  return endBits() - DESCRIPTION - 1;
}

/** Writes `source` to `sourceEnd`, the last byte first, by the codes written last. Returns the place behind. */
function writeStream(target: usize, source: usize, sourceEnd: usize): usize {
  const codes = written;
  let t = target;
  let s = sourceEnd;
  let word: u64 = 0;
  let held: u64 = 0;
  // Shifts look at six bits only, and five codes take fewer than 64: what lies above the lengths does no harm.
  for (; s >= source + 5; s -= 5) {
    const a = load<u32>(codes + (<usize>load<u8>(s - 1) << 2));
    word |= <u64>(a >> 8) << held;
    held += <u64>a;
    const b = load<u32>(codes + (<usize>load<u8>(s - 2) << 2));
    word |= <u64>(b >> 8) << held;
    held += <u64>b;
    const c = load<u32>(codes + (<usize>load<u8>(s - 3) << 2));
    word |= <u64>(c >> 8) << held;
    held += <u64>c;
    const d = load<u32>(codes + (<usize>load<u8>(s - 4) << 2));
    word |= <u64>(d >> 8) << held;
    held += <u64>d;
    const e = load<u32>(codes + (<usize>load<u8>(s - 5) << 2));
    word |= <u64>(e >> 8) << held;
    held += <u64>e;
    held &= 63;
    store<u64>(t, word);
    t += <usize>(held >> 3);
    word >>= held & 56;
    held &= 7;
  }
  for (; s > source; s--) {
    const code = load<u32>(codes + (<usize>load<u8>(s - 1) << 2));
    word |= <u64>(code >> 8) << held;
    held += <u64>(code & 255);
  }
  word |= <u64>1 << held;
  held++;
  store<u64>(t, word);
  return t + <usize>((held + 7) >> 3);
}
