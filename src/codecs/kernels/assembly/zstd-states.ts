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

/** The tables that decode the codes of sequences. */

/**
 * Fields of a state:
 *
 * - the base value and the mask of its extra bits (u32 each)
 * - the next state and the mask of the bits to add to it (u16 each, both times 16)
 * - the number of extra bits, of state bits, and of both together (u8 each)
 *
 * Offsets are read first and state four extra bits fewer, modulo 64: the reader counts from four bits further down.
 */
const STATE_SIZE: usize = 16;
export const LITERAL_STATES = memory.data(16 << LITERAL_LOG, 16);
export const MATCH_STATES = memory.data(16 << MATCH_LOG, 16);
export const OFFSET_STATES = memory.data(16 << OFFSET_LOG, 16);
const DEFAULT_LITERAL_STATES = memory.data(16 << DEFAULT_LITERAL_LOG, 16);
const DEFAULT_MATCH_STATES = memory.data(16 << DEFAULT_MATCH_LOG, 16);
const DEFAULT_OFFSET_STATES = memory.data(16 << DEFAULT_OFFSET_LOG, 16);

export const LITERAL_KIND = 0;
export const OFFSET_KIND = 1;
export const MATCH_KIND = 2;
const NO_TABLE: u32 = 255;

makeDefault(LITERAL_KIND, DEFAULT_LITERAL_COUNTS, MAX_LITERAL_CODE + 1, DEFAULT_LITERAL_STATES, DEFAULT_LITERAL_LOG);
makeDefault(MATCH_KIND, DEFAULT_MATCH_COUNTS, MAX_MATCH_CODE + 1, DEFAULT_MATCH_STATES, DEFAULT_MATCH_LOG);
makeDefault(OFFSET_KIND, DEFAULT_OFFSET_COUNTS, 29, DEFAULT_OFFSET_STATES, DEFAULT_OFFSET_LOG);

/** State bits of each table; `NO_TABLE` until the frame has one. */
export let literalLog: u32 = NO_TABLE;
export let matchLog: u32 = NO_TABLE;
export let offsetLog: u32 = NO_TABLE;

/** Forgets all tables at the start of a frame. */
export function forgetTables(): void {
  literalLog = matchLog = offsetLog = NO_TABLE;
}

/** Reads the table for one kind of code and makes it current. Returns the end of its description, or 0 if broken. */
export function readTable(kind: i32, mode: u32, s: usize, sourceEnd: usize): usize {
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
    memory.copy(own, states, STATE_SIZE << log);
    setLog(kind, log);
    return s;
  }
  if (mode == 1) {
    if (s >= sourceEnd) return 0;
    const code = <u32>load<u8>(s);
    if (code > maxCode) return 0;
    storeState(own, kind, code, 0);
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
    storeState(states + (<usize>i << 4), kind, code, nextState(code, log));
  }
}

// @ts-ignore: decorator
@inline
function storeState(at: usize, kind: i32, code: u32, next: u32): void {
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
  const bits = next >> 16;
  store<u32>(at, base);
  store<u32>(at, (<u32>1 << extra) - 1, 4);
  store<u16>(at, <u16>((next & 0xffff) << 4), 8);
  store<u16>(at, <u16>(((<u32>1 << bits) - 1) << 4), 10);
  store<u8>(at, <u8>(kind == OFFSET_KIND ? (extra - 4) & 63 : extra), 12);
  store<u8>(at, <u8>bits, 13);
  store<u8>(at, <u8>(extra + bits), 14);
}

