import { bitCount, nextBits, top } from "./bits";
import { copyLiterals, copyMatch } from "./copy";
import {
  COUNTS,
  nextState,
  readCounts,
  SPREAD,
  spreadSymbols,
  startStates,
  symbolCount,
  tableLog,
} from "./fse-table";
import { decodeHuffman, forgetHuffman, hasHuffman, readHuffman } from "./huffman-decode";
import { checksum } from "./xxh64";
import {
  DEFAULT_LITERAL_COUNTS,
  DEFAULT_LITERAL_LOG,
  DEFAULT_MATCH_COUNTS,
  DEFAULT_MATCH_LOG,
  DEFAULT_OFFSET_COUNTS,
  DEFAULT_OFFSET_LOG,
  LITERAL_BASES,
  LITERAL_BITS,
  LITERAL_LOG,
  MATCH_BASES,
  MATCH_BITS,
  MATCH_LOG,
  MAX_LITERAL_CODE,
  MAX_MATCH_CODE,
  MAX_OFFSET_CODE,
  OFFSET_LOG,
} from "./zstd-codes";

/** Frames of zstd (RFC 8878), decoded in one go: what was decoded before is the window. */

const MAGIC: u32 = 0xfd2f_b528;
const MAX_BLOCK: usize = 128 * 1024;
/** Sequences are decoded so many at a time, and then carried out. */
const BATCH: u32 = 512;
/** Bits that the states of one sequence take at most, and that one load yields at least. */
const STATE_BITS: u64 = <u64>(LITERAL_LOG + MATCH_LOG + OFFSET_LOG);
const LOADED_BITS: u64 = 56;

const LITERALS = memory.data(128 * 1024 + 64, 16);
/** Literal length, match length, offset: u32 each, and as many unused. */
const SEQUENCES = memory.data(16 * 512, 16);

/**
 * States as u64: the base value, the next state times 8 (u16), the bits to be added to that, and the extra bits of the
 * value (u8 each).
 */
const LITERAL_STATES = memory.data(8 << LITERAL_LOG, 16);
const MATCH_STATES = memory.data(8 << MATCH_LOG, 16);
const OFFSET_STATES = memory.data(8 << OFFSET_LOG, 16);
const DEFAULT_LITERAL_STATES = memory.data(8 << DEFAULT_LITERAL_LOG, 16);
const DEFAULT_MATCH_STATES = memory.data(8 << DEFAULT_MATCH_LOG, 16);
const DEFAULT_OFFSET_STATES = memory.data(8 << DEFAULT_OFFSET_LOG, 16);

const LITERAL_KIND = 0;
const OFFSET_KIND = 1;
const MATCH_KIND = 2;
const NO_TABLE: u32 = 255;

makeDefault(LITERAL_KIND, DEFAULT_LITERAL_COUNTS, MAX_LITERAL_CODE + 1, DEFAULT_LITERAL_STATES, DEFAULT_LITERAL_LOG);
makeDefault(MATCH_KIND, DEFAULT_MATCH_COUNTS, MAX_MATCH_CODE + 1, DEFAULT_MATCH_STATES, DEFAULT_MATCH_LOG);
makeDefault(OFFSET_KIND, DEFAULT_OFFSET_COUNTS, 29, DEFAULT_OFFSET_STATES, DEFAULT_OFFSET_LOG);

/** Bits of the states of each table; `NO_TABLE` before a frame has had one. */
let literalLog: u32 = NO_TABLE;
let matchLog: u32 = NO_TABLE;
let offsetLog: u32 = NO_TABLE;

/** The last three offsets. */
let recent1: u32 = 1;
let recent2: u32 = 4;
let recent3: u32 = 8;

/** The literals of the block at hand. */
let literals: usize = 0;
let literalsSize: usize = 0;

/**
 * Decodes one frame, whose bytes are exactly `source` to `sourceEnd`. Returns the bytes written, or -1 where it is
 * broken or would give more than the target holds.
 */
export function zstdDecode(source: usize, sourceEnd: usize, target: usize, targetEnd: usize): i32 {
  if (sourceEnd - source < 9 || load<u32>(source) != MAGIC) return -1;
  const descriptor = <u32>load<u8>(source, 4);
  const isSingle = (descriptor >> 5) & 1;
  const idSize: u32 = (1 << (descriptor & 3)) >> 1;
  const sizeCode = descriptor >> 6;
  const sizeSize: u32 = sizeCode == 0 ? isSingle : 1 << sizeCode;
  let s = source + <usize>(5 + 1 - isSingle + idSize + sizeSize);

  forgetHuffman();
  literalLog = matchLog = offsetLog = NO_TABLE;
  recent1 = 1;
  recent2 = 4;
  recent3 = 8;

  let t = target;
  while (true) {
    if (s + 3 > sourceEnd) return -1;
    const header = <u32>load<u16>(s) | (<u32>load<u8>(s, 2) << 16);
    s += 3;
    const kind = (header >> 1) & 3;
    const size = <usize>(header >> 3);
    if (kind == 1) {
      if (s >= sourceEnd || size > targetEnd - t) return -1;
      memory.fill(t, load<u8>(s), size);
      s++;
      t += size;
    } else {
      if (size > sourceEnd - s) return -1;
      if (kind == 0) {
        if (size > targetEnd - t) return -1;
        memory.copy(t, s, size);
        t += size;
      } else {
        if (kind == 3 || size > MAX_BLOCK) return -1;
        t = decodeBlock(s, s + size, t, target, targetEnd);
        if (t == 0) return -1;
      }
      s += size;
    }
    if ((header & 1) == 1) break;
  }
  if ((descriptor & 4) != 0) {
    if (s + 4 > sourceEnd || load<u32>(s) != checksum(target, t)) return -1;
    s += 4;
  }
  return s == sourceEnd ? <i32>(t - target) : -1;
}

/** Decodes one compressed block to `t`. Returns the place behind its content, or 0. */
function decodeBlock(source: usize, sourceEnd: usize, t: usize, target: usize, targetEnd: usize): usize {
  let s = readLiterals(source, sourceEnd);
  if (s == 0 || s >= sourceEnd) return 0;
  let sequences = <u32>load<u8>(s++);
  if (sequences == 0) {
    if (s != sourceEnd || literalsSize > targetEnd - t) return 0;
    memory.copy(t, literals, literalsSize);
    return t + literalsSize;
  }
  if (sequences == 255) {
    sequences = <u32>load<u16>(s) + 0x7f00;
    s += 2;
  } else if (sequences >= 128) {
    sequences = ((sequences - 128) << 8) + <u32>load<u8>(s++);
  }
  if (s >= sourceEnd) return 0;
  const modes = <u32>load<u8>(s++);
  if ((modes & 3) != 0) return 0;
  s = readTable(LITERAL_KIND, modes >> 6, s, sourceEnd);
  if (s == 0) return 0;
  s = readTable(OFFSET_KIND, (modes >> 4) & 3, s, sourceEnd);
  if (s == 0) return 0;
  s = readTable(MATCH_KIND, (modes >> 2) & 3, s, sourceEnd);
  if (s == 0) return 0;
  return decodeSequences(s, sourceEnd, sequences, t, target, targetEnd);
}

/** Finds or decodes the block's literals. Returns the place behind their section, or 0. */
function readLiterals(source: usize, sourceEnd: usize): usize {
  if (source >= sourceEnd) return 0;
  const header = load<u64>(source);
  const kind = <u32>header & 3;
  const form = (<u32>header >> 2) & 3;
  if (kind < 2) {
    const headerSize: usize = form == 1 ? 2 : form == 3 ? 3 : 1;
    literalsSize = <usize>(form == 1 ? (header >> 4) & 0xfff : form == 3 ? (header >> 4) & 0xf_ffff : (header >> 3) & 31);
    const content = source + headerSize;
    const stored = kind == 0 ? literalsSize : 1;
    if (literalsSize > MAX_BLOCK || content > sourceEnd || stored > sourceEnd - content) return 0;
    if (kind == 0) literals = content;
    else {
      literals = LITERALS;
      memory.fill(LITERALS, load<u8>(content), literalsSize);
    }
    return content + stored;
  }

  const bits: u64 = form < 2 ? 10 : form == 2 ? 14 : 18;
  const headerSize: usize = form < 2 ? 3 : form == 2 ? 4 : 5;
  const mask: u64 = (1 << bits) - 1;
  literalsSize = <usize>((header >> 4) & mask);
  const encodedSize = <usize>((header >> (4 + bits)) & mask);
  let s = source + headerSize;
  if (literalsSize > MAX_BLOCK || s > sourceEnd || encodedSize > sourceEnd - s) return 0;
  const end = s + encodedSize;
  if (kind == 2) {
    const tableSize = readHuffman(s, end);
    if (tableSize == 0) return 0;
    s += tableSize;
  } else if (!hasHuffman()) return 0;
  literals = LITERALS;
  return decodeHuffman(s, end, LITERALS, literalsSize, form == 0 ? 1 : 4) ? end : 0;
}

/** Makes the table of one kind of code the one at hand. Returns the place behind its description, or 0. */
function readTable(kind: i32, mode: u32, s: usize, sourceEnd: usize): usize {
  const maxCode = kind == LITERAL_KIND ? MAX_LITERAL_CODE : kind == MATCH_KIND ? MAX_MATCH_CODE : MAX_OFFSET_CODE;
  const own = kind == LITERAL_KIND ? LITERAL_STATES : kind == MATCH_KIND ? MATCH_STATES : OFFSET_STATES;
  if (mode == 0) {
    const log = kind == OFFSET_KIND ? DEFAULT_OFFSET_LOG : DEFAULT_LITERAL_LOG;
    const states =
      kind == LITERAL_KIND
        ? DEFAULT_LITERAL_STATES
        : kind == MATCH_KIND
          ? DEFAULT_MATCH_STATES
          : DEFAULT_OFFSET_STATES;
    memory.copy(own, states, <usize>8 << log);
    setLog(kind, log);
    return s;
  }
  if (mode == 1) {
    if (s >= sourceEnd) return 0;
    const code = <u32>load<u8>(s);
    if (code > maxCode) return 0;
    store<u64>(own, stateOf(kind, code, 0));
    setLog(kind, 0);
    return s + 1;
  }
  if (mode == 2) {
    const maxLog = kind == LITERAL_KIND ? LITERAL_LOG : kind == MATCH_KIND ? MATCH_LOG : OFFSET_LOG;
    const size = readCounts(s, sourceEnd, maxLog, maxCode);
    if (size == 0) return 0;
    makeTable(kind, own, tableLog, symbolCount);
    setLog(kind, tableLog);
    return s + size;
  }
  const log = kind == LITERAL_KIND ? literalLog : kind == MATCH_KIND ? matchLog : offsetLog;
  return log == NO_TABLE ? 0 : s;
}

function setLog(kind: i32, log: u32): void {
  if (kind == LITERAL_KIND) literalLog = log;
  else if (kind == MATCH_KIND) matchLog = log;
  else offsetLog = log;
}

function makeDefault(kind: i32, counts: usize, symbols: u32, states: usize, log: u32): void {
  memory.copy(COUNTS, counts, <usize>symbols << 1);
  makeTable(kind, states, log, symbols);
}

function makeTable(kind: i32, states: usize, log: u32, symbols: u32): void {
  spreadSymbols(log, symbols);
  startStates(symbols);
  for (let i: u32 = 0; i < 1 << log; i++) {
    const code = <u32>load<u8>(SPREAD + i);
    store<u64>(states + (<usize>i << 3), stateOf(kind, code, nextState(code, log)));
  }
}

// @ts-ignore: decorator
@inline
function stateOf(kind: i32, code: u32, next: u32): u64 {
  const base =
    kind == LITERAL_KIND
      ? load<u32>(LITERAL_BASES + (code << 2))
      : kind == MATCH_KIND
        ? load<u32>(MATCH_BASES + (code << 2))
        : 1 << code;
  const extra =
    kind == LITERAL_KIND
      ? <u32>load<u8>(LITERAL_BITS + code)
      : kind == MATCH_KIND
        ? <u32>load<u8>(MATCH_BITS + code)
        : code;
  return <u64>base | (<u64>((next & 0xffff) << 3) << 32) | (<u64>(next >> 16) << 48) | (<u64>extra << 56);
}

/** Decodes and carries out `count` sequences. Returns the place behind what they give, or 0. */
function decodeSequences(
  source: usize,
  sourceEnd: usize,
  count: u32,
  t: usize,
  target: usize,
  targetEnd: usize,
): usize {
  let left = bitCount(source, sourceEnd);
  if (left < <i32>(literalLog + offsetLog + matchLog)) return 0;
  let first = nextBits(source, left);
  let literalState = <usize>top(first, literalLog) << 3;
  first <<= <u64>literalLog;
  let offsetState = <usize>top(first, offsetLog) << 3;
  first <<= <u64>offsetLog;
  let matchState = <usize>top(first, matchLog) << 3;
  left -= literalLog + offsetLog + matchLog;

  let offset1 = recent1;
  let offset2 = recent2;
  let offset3 = recent3;
  let literal = literals;
  const literalsEnd = literals + literalsSize;
  let stateBits: i32 = 0;

  while (count > 0) {
    const batch = min(count, BATCH);
    count -= batch;
    let sequence = SEQUENCES;
    const batchEnd = SEQUENCES + (<usize>batch << 4);
    for (; sequence < batchEnd; sequence += 16) {
      const literalBits = <u64>load<u8>(literalState, LITERAL_STATES + 7);
      const matchBits = <u64>load<u8>(matchState, MATCH_STATES + 7);
      const offsetBits = <u64>load<u8>(offsetState, OFFSET_STATES + 7);
      let word = nextBits(source, left);
      const offsetValue = load<u32>(offsetState, OFFSET_STATES) + <u32>top(word, offsetBits);
      word <<= offsetBits;
      const matchSize = load<u32>(matchState, MATCH_STATES) + <u32>top(word, matchBits);
      word <<= matchBits;
      const extraBits = offsetBits + matchBits + literalBits;
      if (extraBits > LOADED_BITS - STATE_BITS) {
        left -= <i32>(offsetBits + matchBits);
        word = nextBits(source, left);
        left -= <i32>literalBits;
      } else left -= <i32>extraBits;
      const literalSize = load<u32>(literalState, LITERAL_STATES) + <u32>top(word, literalBits);
      word <<= literalBits;

      store<u32>(sequence, literalSize);
      store<u32>(sequence, matchSize, 4);
      if (offsetValue > 3) {
        offset3 = offset2;
        offset2 = offset1;
        offset1 = offsetValue - 3;
      } else {
        const which = offsetValue + <u32>(literalSize == 0);
        if (which != 1) {
          const again = which == 2 ? offset2 : which == 3 ? offset3 : offset1 - 1;
          if (which != 2) offset3 = offset2;
          offset2 = offset1;
          offset1 = again;
        }
      }
      store<u32>(sequence, offset1, 8);

      const literalMore = <u64>load<u8>(literalState, LITERAL_STATES + 6);
      const matchMore = <u64>load<u8>(matchState, MATCH_STATES + 6);
      const offsetMore = <u64>load<u8>(offsetState, OFFSET_STATES + 6);
      literalState = <usize>load<u16>(literalState, LITERAL_STATES + 4) + (<usize>top(word, literalMore) << 3);
      word <<= literalMore;
      matchState = <usize>load<u16>(matchState, MATCH_STATES + 4) + (<usize>top(word, matchMore) << 3);
      word <<= matchMore;
      offsetState = <usize>load<u16>(offsetState, OFFSET_STATES + 4) + (<usize>top(word, offsetMore) << 3);
      stateBits = <i32>(literalMore + matchMore + offsetMore);
      left -= stateBits;
    }
    // Behind the last sequence no states are stored.
    if (count == 0) left += stateBits;
    // Not looked at before: what lies in front of the stream may be read, but nothing comes of it.
    if (left < 0) return 0;

    for (sequence = SEQUENCES; sequence < batchEnd; sequence += 16) {
      const literalSize = <usize>load<u32>(sequence);
      const matchSize = <usize>load<u32>(sequence, 4);
      const offset = <usize>load<u32>(sequence, 8);
      const matchStart = t + literalSize;
      if (
        literalSize > literalsEnd - literal ||
        matchStart + matchSize > targetEnd ||
        offset - 1 >= matchStart - target
      ) {
        return 0;
      }
      v128.store(t, v128.load(literal));
      if (literalSize > 16) copyLiterals(t + 16, literal + 16, literalSize - 16);
      literal += literalSize;
      t = matchStart;
      if (offset >= 16) {
        v128.store(t, v128.load(t - offset));
        if (matchSize > 16) copyMatch(t + 16, offset, matchSize - 16);
      } else copyMatch(t, offset, matchSize);
      t += matchSize;
    }
  }
  if (left != 0) return 0;
  recent1 = offset1;
  recent2 = offset2;
  recent3 = offset3;

  const rest = literalsEnd - literal;
  if (rest > targetEnd - t) return 0;
  memory.copy(t, literal, rest);
  return t + rest;
}
