import { highBit } from "./bits";
import {
  bitsOut,
  firstState,
  makeSingleTable,
  makeTable,
  scaleCounts,
  stateBefore,
  suitableLog,
  TABLE_SIZE,
  writeCounts,
} from "./fse-encode";
import { COUNTS } from "./fse-table";
import {
  DEFAULT_LITERAL_COUNTS,
  DEFAULT_LITERAL_LOG,
  DEFAULT_MATCH_COUNTS,
  DEFAULT_OFFSET_COUNTS,
  DEFAULT_OFFSET_LOG,
  LITERAL_BASES,
  LITERAL_BITS,
  LITERAL_LOG,
  MATCH_BASES,
  MATCH_BITS,
  MATCH_LOG,
  OFFSET_LOG,
} from "./zstd-codes";
import { SEQUENCES, sequencesEnd } from "./zstd-sequences";

/** Writes the section of a block with its sequences: codes in finite state entropy (FSE) coding, and extra bits. */

/** Number of offset codes in the default table. */
const DEFAULT_OFFSET_CODES: u32 = 29;
const CODES: u32 = 64;

/** Codes by value: literal lengths below 64, match lengths (minus 3) below 128. Larger values use their logarithm. */
const LITERAL_CODES = memory.data(64, 16);
const MATCH_CODES = memory.data(128, 16);
const HISTOGRAMS = memory.data(3 * 4 * 64, 16);
const TABLES = memory.data(3 * TABLE_SIZE, 16);
const DEFAULT_TABLES = memory.data(3 * TABLE_SIZE, 16);

/** Index of each kind of code in the arrays above, in the order of the format. */
const LITERAL_KIND: usize = 0;
const OFFSET_KIND: usize = 1;
const MATCH_KIND: usize = 2;

fillCodes(LITERAL_CODES, 64, LITERAL_BASES, 36, 0);
fillCodes(MATCH_CODES, 128, MATCH_BASES, 53, 3);
makeDefault(LITERAL_KIND, DEFAULT_LITERAL_COUNTS, 36, DEFAULT_LITERAL_LOG);
makeDefault(OFFSET_KIND, DEFAULT_OFFSET_COUNTS, DEFAULT_OFFSET_CODES, DEFAULT_OFFSET_LOG);
makeDefault(MATCH_KIND, DEFAULT_MATCH_COUNTS, 53, DEFAULT_LITERAL_LOG);

/** The table chosen last, its mode, and its log. */
let chosen: usize = 0;
let chosenMode: u32 = 0;
let chosenLog: u32 = 0;

function fillCodes(codes: usize, values: u32, bases: usize, last: u32, first: u32): void {
  let code: u32 = 0;
  for (let value: u32 = 0; value < values; value++) {
    while (code + 1 < last && load<u32>(bases + ((code + 1) << 2)) <= value + first) code++;
    store<u8>(codes + value, <u8>code);
  }
}

function makeDefault(kind: usize, counts: usize, symbols: u32, log: u32): void {
  memory.copy(COUNTS, counts, <usize>symbols << 1);
  makeTable(DEFAULT_TABLES + kind * TABLE_SIZE, symbols, log);
}

// @ts-ignore: decorator
@inline
function literalCode(length: u32): u32 {
  return length < 64 ? <u32>load<u8>(LITERAL_CODES + length) : highBit(length) + 19;
}

/** Takes a match length minus 3. */
// @ts-ignore: decorator
@inline
function matchCode(length: u32): u32 {
  return length < 128 ? <u32>load<u8>(MATCH_CODES + length) : highBit(length) + 36;
}

/** Writes the sequences that were found. Returns the end of their section. */
export function writeSequences(target: usize): usize {
  const count = <u32>((sequencesEnd - SEQUENCES) >> 4);
  let t = target;
  if (count < 128) store<u8>(t++, <u8>count);
  else if (count < 0x7f00) {
    store<u8>(t, <u8>((count >> 8) + 128));
    store<u8>(t, <u8>count, 1);
    t += 2;
  } else {
    store<u8>(t, 255);
    store<u16>(t, <u16>(count - 0x7f00), 1);
    t += 3;
  }
  if (count == 0) return t;

  countCodes();
  const modes = t++;
  const last = sequencesEnd - 16;
  t = chooseTable(t, LITERAL_KIND, 36, count, <u32>load<u8>(last, 12), LITERAL_LOG, DEFAULT_LITERAL_LOG);
  const literalTable = chosen;
  const literalLog = chosenLog;
  let mode = chosenMode << 6;
  t = chooseTable(t, OFFSET_KIND, 32, count, <u32>load<u8>(last, 13), OFFSET_LOG, DEFAULT_OFFSET_LOG);
  const offsetTable = chosen;
  const offsetLog = chosenLog;
  mode |= chosenMode << 4;
  t = chooseTable(t, MATCH_KIND, 53, count, <u32>load<u8>(last, 14), MATCH_LOG, DEFAULT_LITERAL_LOG);
  const matchTable = chosen;
  const matchLog = chosenLog;
  store<u8>(modes, <u8>(mode | (chosenMode << 2)));

  return writeCodes(t, last, literalTable, literalLog, offsetTable, offsetLog, matchTable, matchLog);
}

/** Writes the states and extra bits of all sequences, the last one first. Returns their end. */
function writeCodes(
  t: usize,
  last: usize,
  literalTable: usize,
  literalLog: u32,
  offsetTable: usize,
  offsetLog: u32,
  matchTable: usize,
  matchLog: u32,
): usize {
  let word: u64 = 0;
  let held: u64 = 0;
  let literalState: u32 = 0;
  let offsetState: u32 = 0;
  let matchState: u32 = 0;
  for (let sequence = last; sequence >= SEQUENCES; sequence -= 16) {
    const literal = <u32>load<u8>(sequence, 12);
    const offset = <u32>load<u8>(sequence, 13);
    const match = <u32>load<u8>(sequence, 14);
    if (sequence == last) {
      literalState = firstState(literalTable, literal);
      offsetState = firstState(offsetTable, offset);
      matchState = firstState(matchTable, match);
    } else {
      const offsetBits = bitsOut(offsetTable, offset, offsetState);
      word |= lowBits(offsetState, <u64>offsetBits) << held;
      held += <u64>offsetBits;
      offsetState = stateBefore(offsetTable, offset, offsetState, offsetBits);
      const matchBits = bitsOut(matchTable, match, matchState);
      word |= lowBits(matchState, <u64>matchBits) << held;
      held += <u64>matchBits;
      matchState = stateBefore(matchTable, match, matchState, matchBits);
      const literalBits = bitsOut(literalTable, literal, literalState);
      word |= lowBits(literalState, <u64>literalBits) << held;
      held += <u64>literalBits;
      literalState = stateBefore(literalTable, literal, literalState, literalBits);
    }

    const literalBits = <u64>load<u8>(LITERAL_BITS + literal);
    const matchBits = <u64>load<u8>(MATCH_BITS + match);
    const offsetBits = <u64>offset;
    if (held + literalBits + matchBits + offsetBits > 63) {
      store<u64>(t, word);
      t += <usize>(held >> 3);
      word >>= held & 56;
      held &= 7;
    }
    word |= <u64>(load<u32>(sequence) - load<u32>(LITERAL_BASES + (literal << 2))) << held;
    held += literalBits;
    word |= <u64>(load<u32>(sequence, 4) - load<u32>(MATCH_BASES + (match << 2))) << held;
    held += matchBits;
    if (held + offsetBits > 63) {
      store<u64>(t, word);
      t += <usize>(held >> 3);
      word >>= held & 56;
      held &= 7;
    }
    word |= lowBits(load<u32>(sequence, 8), offsetBits) << held;
    held += offsetBits;
    store<u64>(t, word);
    t += <usize>(held >> 3);
    word >>= held & 56;
    held &= 7;
  }
  word |= lowBits(matchState, <u64>matchLog) << held;
  held += <u64>matchLog;
  word |= lowBits(offsetState, <u64>offsetLog) << held;
  held += <u64>offsetLog;
  word |= lowBits(literalState, <u64>literalLog) << held;
  held += <u64>literalLog;
  // The end mark.
  word |= <u64>1 << held;
  store<u64>(t, word);
  return t + <usize>((held + 8) >> 3);
}

// @ts-ignore: decorator
@inline
function lowBits(value: u32, count: u64): u64 {
  return <u64>value & ((<u64>1 << count) - 1);
}

/** Stores the codes of all sequences after their values, and counts them. */
function countCodes(): void {
  memory.fill(HISTOGRAMS, 0, 3 * 4 * CODES);
  for (let sequence = SEQUENCES; sequence < sequencesEnd; sequence += 16) {
    const literal = literalCode(load<u32>(sequence));
    const match = matchCode(load<u32>(sequence, 4) - 3);
    const offset = highBit(load<u32>(sequence, 8));
    store<u8>(sequence, <u8>literal, 12);
    store<u8>(sequence, <u8>offset, 13);
    store<u8>(sequence, <u8>match, 14);
    addOne(HISTOGRAMS + (literal << 2));
    addOne(HISTOGRAMS + 4 * CODES + (offset << 2));
    addOne(HISTOGRAMS + 8 * CODES + (match << 2));
  }
}

// @ts-ignore: decorator
@inline
function addOne(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

/** Chooses the table for one kind of code and writes its description. Returns the end of the description. */
function chooseTable(
  target: usize,
  kind: usize,
  codes: u32,
  count: u32,
  last: u32,
  maxLog: u32,
  defaultLog: u32,
): usize {
  const histogram = HISTOGRAMS + kind * 4 * CODES;
  let most: u32 = 0;
  let symbols: u32 = 0;
  for (let code: u32 = 0; code < codes; code++) {
    const occurs = load<u32>(histogram + (code << 2));
    most = max(most, occurs);
    if (occurs > 0) symbols = code + 1;
  }
  const hasDefault = kind != OFFSET_KIND || symbols <= DEFAULT_OFFSET_CODES;
  chosen = TABLES + kind * TABLE_SIZE;
  if (most == count && (count > 2 || !hasDefault)) {
    makeSingleTable(chosen, last);
    chosenMode = 1;
    chosenLog = 0;
    store<u8>(target, <u8>last);
    return target + 1;
  }
  if (hasDefault && (count < 9 << (defaultLog - 3) || most < count >> (defaultLog - 1))) {
    chosen = DEFAULT_TABLES + kind * TABLE_SIZE;
    chosenMode = 0;
    chosenLog = defaultLog;
    return target;
  }
  const log = min(suitableLog(maxLog, count, symbols), maxLog);
  // The last code needs no bits of its own.
  const lastCount = histogram + (last << 2);
  const spared: u32 = load<u32>(lastCount) > 1 ? 1 : 0;
  store<u32>(lastCount, load<u32>(lastCount) - spared);
  scaleCounts(histogram, symbols, count - spared, log);
  makeTable(chosen, symbols, log);
  chosenMode = 2;
  chosenLog = log;
  return writeCounts(target, symbols, log);
}
