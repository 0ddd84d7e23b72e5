import { addBits, endBits, flushBits, startBits } from "./bit-writer";
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
import { bitsWith, count, log, makeCodes, symbols } from "./huffman-codes";

/** Huffman coding of zstd literals: codes of at most 11 bits, in one stream or four. */

const WEIGHTS_LOG: u32 = 6;

/** Codes as u32: the number of bits in the low byte, the code above. One table is being built, one was written last. */
const CODES_A = memory.data(4 * 256, 16);
const CODES_B = memory.data(4 * 256, 16);
const WEIGHTS = memory.data(256, 16);
const WEIGHT_COUNTS = memory.data(4 * 16, 16);
const WEIGHT_TABLE = memory.data(TABLE_SIZE, 16);
const DESCRIPTION = memory.data(160, 16);

let made: usize = CODES_A;
let written: usize = CODES_B;
let hasWritten = false;

/** Forgets the table written last, at the start of a frame. */
export function forgetCodes(): void {
  hasWritten = false;
}

/** Writes a section of literals, encoded if that makes it smaller. Returns its end. */
export function writeLiterals(target: usize, source: usize, size: usize): usize {
  if (size < 64) return writePlain(target, source, size);
  const most = count(source, size);
  if (most == <u32>size) {
    const t = writeHeader(target, 1, size);
    store<u8>(t, load<u8>(source));
    return t + 1;
  }
  // The counts are nearly equal, so encoding would gain little.
  if (most <= <u32>(size >> 7) + 4) return writePlain(target, source, size);

  makeCodes(made, <u32>size, most);
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

/** Writes a section of unencoded literals. Returns its end. */
export function writePlain(target: usize, source: usize, size: usize): usize {
  const t = writeHeader(target, 0, size);
  memory.copy(t, source, size);
  return t + size;
}

/** Writes the header of literals that are unencoded (kind 0) or all the same (kind 1). */
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

/** Writes the description of the codes in `made` to `DESCRIPTION`. Returns its size, or 0 if that is not possible. */
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

/** Encodes the weights with two alternating states, after the first byte. Returns the bytes, or 0 if not possible. */
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
  // Writes the last weights first. The states of even and odd positions alternate.
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

/**
 * Encodes the bytes `[source, sourceEnd)`, starting with the last one, with the codes of the table that was written
 * last. Returns the end of the stream.
 */
function writeStream(target: usize, source: usize, sourceEnd: usize): usize {
  const codes = written;
  let t = target;
  let s = sourceEnd;
  let word: u64 = 0;
  let held: u64 = 0;
  // `held` may contain code bits above the lengths: shifts use only six bits, and five codes take fewer than 64 bits.
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
