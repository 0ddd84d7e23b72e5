import { highBit } from "./bits";

/** Counts literals and builds a Huffman code for them, with at most 11 bits per symbol. */

const MAX_LOG: u32 = 11;
const SYMBOLS: u32 = 256;

const HISTOGRAM = memory.data(4 * 256 * 4, 16);
/** Symbols by count, the least frequent first, as count << 8 | symbol; later depths in the same order. */
const SORTED = memory.data(4 * 257, 16);
const BUCKETS = memory.data(4 * 224, 16);
const RANKS = memory.data(4 * 16, 16);
export let symbols: u32 = 0;
export let log: u32 = 0;

/** Counts bytes to `HISTOGRAM`. Returns the largest count; `symbols` is one more than the highest byte. */
export function count(source: usize, size: usize): u32 {
  memory.fill(HISTOGRAM, 0, 4 * 1024);
  let s = source;
  const end = source + size;
  // Four tables, so that equal bytes in a row do not wait for the previous count.
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

/** Writes codes of at most `MAX_LOG` bits to `codes`, for the symbols that occur. At least two symbols must occur. */
export function makeCodes(codes: usize, size: u32, most: u32): void {
  const used = sortByCount(most);
  measureDepths(used);
  const bySize = max(highBit(size - 1) - 1, 5);
  limitDepths(used, max(min(MAX_LOG, bySize), highBit(used) + 1));

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
  memory.fill(codes, 0, 4 * 256);
  for (let i: u32 = 0; i < used; i++) {
    const entry = load<u32>(SORTED + (i << 2));
    store<u32>(codes + ((entry & 255) << 2), entry >> 8);
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const depth = load<u32>(codes + (symbol << 2));
    if (depth == 0) continue;
    const at = RANKS + (depth << 2);
    const next = load<u32>(at);
    store<u32>(at, next + 1);
    store<u32>(codes + (symbol << 2), depth | (next << 8));
  }
}

/** Sorts the symbols that occur: first into buckets by count, then exactly. Returns their number. */
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

/** One bucket for each count below 128, eight for each power of two above. */
// @ts-ignore: decorator
@inline
function bucketOf(count: u32): u32 {
  if (count < 128) return count;
  const high = highBit(count);
  return (high << 3) + 72 + ((count >> (high - 3)) & 7);
}

const TREE = memory.data(4 * 257, 16);

/**
 * Replaces the counts in `SORTED` by depths in the Huffman tree, computed in place: first sums and parents, then depths
 * of inner nodes, then depths of leaves.
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

/** Shortens codes to `most` bits and in return lengthens the least frequent symbols that can be longer. */
function limitDepths(used: u32, most: u32): void {
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
  // If too much was gained, shorten the codes of the most frequent symbols that fit.
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

/** Bits of all literals with these codes; the largest number if a symbol has no code. */
export function bitsWith(codes: usize): u64 {
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
