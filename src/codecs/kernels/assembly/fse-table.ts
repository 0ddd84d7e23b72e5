import { highBit } from "./bits";

/** Finite state entropy (FSE) tables of zstd: reads stored counts and converts them to states. */

const MAX_SYMBOLS = 256;

/** Counts of symbols as i16; -1 stands for less than one. */
export const COUNTS = memory.data(2 * MAX_SYMBOLS, 16);
/** The symbol of each state. */
export const SPREAD = memory.data(512, 16);
const NEXT = memory.data(2 * MAX_SYMBOLS, 16);

/** Describe the counts read last. */
export let tableLog: u32 = 0;
export let symbolCount: u32 = 0;

/** Reads counts to `COUNTS`, `tableLog` and `symbolCount`. Returns the bytes read, or 0 if they are broken. */
export function readCounts(source: usize, sourceEnd: usize, maxLog: u32, maxSymbol: u32): usize {
  if (source >= sourceEnd) return 0;
  const log = <u32>(load<u8>(source) & 15) + 5;
  if (log > maxLog) return 0;
  let bit: usize = 4;
  let remaining: i32 = (1 << log) + 1;
  let threshold: i32 = 1 << log;
  let bits: u32 = log + 1;
  let symbol: u32 = 0;
  let wasZero = false;
  while (remaining > 1) {
    if (wasZero) {
      let zeros: u32;
      do {
        if (source + (bit >> 3) >= sourceEnd) return 0;
        zeros = (load<u32>(source + (bit >> 3)) >> <u32>(bit & 7)) & 3;
        bit += 2;
        if (symbol + zeros > maxSymbol) return 0;
        for (let i: u32 = 0; i < zeros; i++) store<i16>(COUNTS + (symbol++ << 1), 0);
      } while (zeros == 3);
    }
    if (symbol > maxSymbol || source + (bit >> 3) >= sourceEnd) return 0;
    const word = <i32>(load<u32>(source + (bit >> 3)) >> <u32>(bit & 7));
    const most = 2 * threshold - 1 - remaining;
    let count = word & (threshold - 1);
    if (count < most) bit += bits - 1;
    else {
      count = word & (2 * threshold - 1);
      if (count >= threshold) count -= most;
      bit += bits;
    }
    count--;
    remaining -= count < 0 ? 1 : count;
    store<i16>(COUNTS + (symbol++ << 1), <i16>count);
    wasZero = count == 0;
    while (remaining < threshold) {
      bits--;
      threshold >>= 1;
    }
  }
  const bytes = (bit + 7) >> 3;
  if (remaining != 1 || bytes > sourceEnd - source) return 0;
  tableLog = log;
  symbolCount = symbol;
  return bytes;
}

/** Assigns a symbol to each of the 2^`log` states, using the `COUNTS` of `symbols` symbols. */
export function spreadSymbols(log: u32, symbols: u32): void {
  const size: u32 = 1 << log;
  const mask = size - 1;
  const step = (size >> 1) + (size >> 3) + 3;
  let last = mask;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    if (load<i16>(COUNTS + (symbol << 1)) == -1) store<u8>(SPREAD + last--, <u8>symbol);
  }
  let place: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    for (let count = <i32>load<i16>(COUNTS + (symbol << 1)); count > 0; count--) {
      store<u8>(SPREAD + place, <u8>symbol);
      do {
        place = (place + step) & mask;
      } while (place > last);
    }
  }
}

/** Starts counting the states of each symbol, for `nextState`. */
export function startStates(symbols: u32): void {
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<i16>(COUNTS + (symbol << 1));
    store<u16>(NEXT + (symbol << 1), count == -1 ? 1 : <u16>count);
  }
}

/**
 * The transition from the next state of `symbol`; call it for states in order. The upper half is the number of bits to
 * read, the lower half the state to add them to.
 */
// @ts-ignore: decorator
@inline
export function nextState(symbol: u32, log: u32): u32 {
  const next = <u32>load<u16>(NEXT + (symbol << 1));
  store<u16>(NEXT + (symbol << 1), <u16>(next + 1));
  const bits = log - highBit(next);
  return (bits << 16) | ((next << bits) - (1 << log));
}
