import { highBit } from "./bits";
import { COUNTS, SPREAD, spreadSymbols } from "./fse-table";

/** Finite state entropy (FSE) tables for encoding. */

/** Bytes of a table: for each of 64 symbols two u32 to add to a state, then 512 states (u16). */
export const TABLE_SIZE = 8 * 64 + 2 * 512;
const STATES = 8 * 64;

/** A suitable number of state bits for `total` symbols with `symbols` different values. */
export function suitableLog(maxLog: u32, total: u32, symbols: u32): u32 {
  const bySize = highBit(total - 1) - 2;
  const least = min(highBit(total) + 1, highBit(symbols) + 2);
  return max(max(min(maxLog, total > 8 ? bySize : 5), least), 5);
}

/**
 * Scales the counts (u32) of `symbols` symbols from a sum of `total` to a sum of 2^`log`, and writes them to `COUNTS`.
 */
export function scaleCounts(histogram: usize, symbols: u32, total: u32, log: u32): void {
  let left = <i32>1 << log;
  let largest: u32 = 0;
  let most: i32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(histogram + (symbol << 2));
    let share: i32 = 0;
    if (count > 0) {
      const scaled = (<u64>count << (log + 8)) / total;
      share = scaled <= 256 ? -1 : <i32>((scaled + 128) >> 8);
      left -= abs(share);
      if (share > most) {
        most = share;
        largest = symbol;
      }
    }
    store<i16>(COUNTS + (symbol << 1), <i16>share);
  }
  if (left > 0 || -left < most >> 1) {
    store<i16>(COUNTS + (largest << 1), <i16>(most + left));
    return;
  }
  // Too many states were assigned: take them back one at a time from all symbols that have more than one.
  for (let symbol: u32 = 0; left < 0; symbol = symbol + 1 == symbols ? 0 : symbol + 1) {
    const share = load<i16>(COUNTS + (symbol << 1));
    if (share > 1) {
      store<i16>(COUNTS + (symbol << 1), share - 1);
      left++;
    }
  }
}

/** Writes the description of `COUNTS`. Returns its end. */
export function writeCounts(target: usize, symbols: u32, log: u32): usize {
  let word: u32 = log - 5;
  let held: u32 = 4;
  let remaining = (<i32>1 << log) + 1;
  let threshold = <i32>1 << log;
  let bits = log + 1;
  let symbol: u32 = 0;
  let wasZero = false;
  while (symbol < symbols && remaining > 1) {
    if (wasZero) {
      const first = symbol;
      while (load<i16>(COUNTS + (symbol << 1)) == 0) symbol++;
      let zeros = symbol - first;
      for (; zeros >= 3; zeros -= 3) {
        word |= 3 << held;
        held += 2;
        if (held >= 16) {
          store<u16>(target, <u16>word);
          target += 2;
          word >>= 16;
          held -= 16;
        }
      }
      word |= zeros << held;
      held += 2;
    }
    let count = <i32>load<i16>(COUNTS + (symbol++ << 1));
    const most = 2 * threshold - 1 - remaining;
    remaining -= abs(count);
    count++;
    if (count >= threshold) count += most;
    word |= <u32>count << held;
    held += bits - <u32>(count < most);
    wasZero = count == 1;
    while (remaining < threshold) {
      bits--;
      threshold >>= 1;
    }
    while (held >= 8) {
      store<u8>(target++, <u8>word);
      word >>= 8;
      held -= 8;
    }
  }
  if (held > 0) store<u8>(target++, <u8>word);
  return target;
}

/** Builds the table of `COUNTS`. */
export function makeTable(table: usize, symbols: u32, log: u32): void {
  spreadSymbols(log, symbols);
  const size: u32 = 1 << log;
  let total: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = <i32>load<i16>(COUNTS + (symbol << 1));
    const entry = table + (symbol << 3);
    if (count == 0) continue;
    const states = <u32>abs(count);
    const bits = states == 1 ? log : log - highBit(states - 1);
    store<u32>(entry, (bits << 16) - (states << bits));
    // The start of the symbol's states; counted up below.
    store<u32>(entry, total, 4);
    total += states;
  }
  for (let state: u32 = 0; state < size; state++) {
    const entry = table + (<u32>load<u8>(SPREAD + state) << 3);
    const place = load<u32>(entry, 4);
    store<u16>(table + STATES + (place << 1), <u16>(size + state));
    store<u32>(entry, place + 1, 4);
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = <i32>load<i16>(COUNTS + (symbol << 1));
    if (count == 0) continue;
    const entry = table + (symbol << 3);
    store<u32>(entry, load<u32>(entry, 4) - 2 * <u32>abs(count), 4);
  }
}

/** Builds the table of a single symbol, which takes no bits. */
export function makeSingleTable(table: usize, symbol: u32): void {
  store<u64>(table + (symbol << 3), 0);
  store<u16>(table + STATES, 0);
}

/** The initial state, which encodes the last symbol. */
// @ts-ignore: decorator
@inline
export function firstState(table: usize, symbol: u32): u32 {
  const entry = table + (symbol << 3);
  const delta = load<u32>(entry);
  const bits = (delta + (1 << 15)) >> 16;
  return stateAt(table, (((bits << 16) - delta) >> bits) + load<u32>(entry, 4));
}

/** Number of bits that leave `state` when `symbol` is put before it. */
// @ts-ignore: decorator
@inline
export function bitsOut(table: usize, symbol: u32, state: u32): u32 {
  return (state + load<u32>(table + (symbol << 3))) >> 16;
}

// @ts-ignore: decorator
@inline
export function stateBefore(table: usize, symbol: u32, state: u32, bits: u32): u32 {
  return stateAt(table, (state >> bits) + load<u32>(table + (symbol << 3), 4));
}

// @ts-ignore: decorator
@inline
function stateAt(table: usize, index: u32): u32 {
  return <u32>load<u16>(table + STATES + (index << 1));
}
