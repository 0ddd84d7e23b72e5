import { bitCount, nextBits, top } from "./bits";
import { copyLiterals, copyMatch } from "./copy";
import { LITERAL_STATES, literalLog, MATCH_STATES, matchLog, OFFSET_STATES, offsetLog } from "./zstd-states";

/** Sequences of a block that are decoded together before they are executed. */

const BATCH: u32 = 512;
/** Literal length, match length, and offset or index of a recent offset, u32 each; the fourth u32 is unused. */
const SEQUENCES = memory.data(16 * 512, 16);
/** Bits of a sequence that one word provides; the lowest four bits only serve to read states times 16. */
const WORD_BITS: u64 = 52;

/** The last three offsets. */
let recent1: u32 = 1;
let recent2: u32 = 4;
let recent3: u32 = 8;

/** Resets the last offsets at the start of a frame. */
export function forgetOffsets(): void {
  recent1 = 1;
  recent2 = 4;
  recent3 = 8;
}

/**
 * Decodes and executes `count` sequences with the literals from `literal` to `literalsEnd`. Returns the end of the
 * output, or 0 if they are broken.
 */
export function decodeSequences(
  source: usize,
  sourceEnd: usize,
  count: u32,
  literal: usize,
  literalsEnd: usize,
  t: usize,
  target: usize,
  targetEnd: usize,
): usize {
  let left = bitCount(source, sourceEnd);
  if (left < <i32>(literalLog + offsetLog + matchLog)) return 0;
  const first = nextBits(source, left);
  let literalState = <usize>top(first, literalLog) << 4;
  let offsetState = <usize>top(first << literalLog, offsetLog) << 4;
  let matchState = <usize>top(first << (<u64>literalLog + offsetLog), matchLog) << 4;
  left -= literalLog + offsetLog + matchLog;

  let offset1 = recent1;
  let offset2 = recent2;
  let offset3 = recent3;
  // The next bits are below bit `bit + 4` of the word at `place`.
  let place = source + (left >> 3) - 7;
  let bit = (<u64>(left & 7) | 56) - 4;

  while (count > 0) {
    // The last sequence is a batch of its own, because no states are stored after it.
    const batch = count == 1 ? 1 : min(count - 1, BATCH);
    count -= batch;
    const stateBits = bitsOfStates(literalState, matchState, offsetState);
    let sequence = SEQUENCES;
    const batchEnd = SEQUENCES + (<usize>batch << 4);
    let allLiterals: usize = 0;
    let allMatches: usize = 0;
    while (sequence < batchEnd) {
      // A state waits only for the previous state, not for the values. Stores keep the compiler from moving loads up.
      for (; sequence < batchEnd; sequence += 16) {
        const all =
          <u64>load<u8>(literalState, LITERAL_STATES + 14) +
          <u64>load<u8>(matchState, MATCH_STATES + 14) +
          <u64>load<u8>(offsetState, OFFSET_STATES + 14);
        if (all > WORD_BITS) break;
        const word = load<u64>(place);
        const end = bit - all;
        const offsetBit = bit - <u64>load<u8>(offsetState, OFFSET_STATES + 12);
        const offset =
          load<u32>(offsetState, OFFSET_STATES) + (<u32>(word >> offsetBit) & load<u32>(offsetState, OFFSET_STATES + 4));
        store<u32>(sequence, offset, 8);
        const matchBit = offsetBit - <u64>load<u8>(matchState, MATCH_STATES + 12);
        const match =
          load<u32>(matchState, MATCH_STATES) + (<u32>(word >> matchBit) & load<u32>(matchState, MATCH_STATES + 4));
        store<u32>(sequence, match, 4);
        allMatches += match;
        const literalBit = matchBit - <u64>load<u8>(literalState, LITERAL_STATES + 12);
        const run =
          load<u32>(literalState, LITERAL_STATES) + (<u32>(word >> literalBit) & load<u32>(literalState, LITERAL_STATES + 4));
        store<u32>(sequence, run);
        allLiterals += run;

        let stateBit = end + <u64>load<u8>(offsetState, OFFSET_STATES + 13);
        offsetState =
          <usize>load<u16>(offsetState, OFFSET_STATES + 8) +
          (<usize>(word >> end) & <usize>load<u16>(offsetState, OFFSET_STATES + 10));
        store<u32>(sequence, offsetState, 12);
        const matchBits = <u64>load<u8>(matchState, MATCH_STATES + 13);
        matchState =
          <usize>load<u16>(matchState, MATCH_STATES + 8) +
          (<usize>(word >> stateBit) & <usize>load<u16>(matchState, MATCH_STATES + 10));
        store<u32>(sequence, matchState, 12);
        stateBit += matchBits;
        literalState =
          <usize>load<u16>(literalState, LITERAL_STATES + 8) +
          (<usize>(word >> stateBit) & <usize>load<u16>(literalState, LITERAL_STATES + 10));
        place -= <usize>((end + 4) ^ 63) >> 3;
        bit = ((end + 4) | 56) - 4;
      }
      if (sequence == batchEnd) break;

      // A sequence that takes two words.
      let word = load<u64>(place);
      bit -= <u64>load<u8>(offsetState, OFFSET_STATES + 12);
      const offset = load<u32>(offsetState, OFFSET_STATES) + (<u32>(word >> bit) & load<u32>(offsetState, OFFSET_STATES + 4));
      store<u32>(sequence, offset, 8);
      bit = (bit & 63) - <u64>load<u8>(matchState, MATCH_STATES + 12);
      const match = load<u32>(matchState, MATCH_STATES) + (<u32>(word >> bit) & load<u32>(matchState, MATCH_STATES + 4));
      store<u32>(sequence, match, 4);
      allMatches += match;
      place -= <usize>(bit ^ 63) >> 3;
      bit |= 56;
      word = load<u64>(place);
      bit -= <u64>load<u8>(literalState, LITERAL_STATES + 12);
      const run = load<u32>(literalState, LITERAL_STATES) + (<u32>(word >> bit) & load<u32>(literalState, LITERAL_STATES + 4));
      store<u32>(sequence, run);
      allLiterals += run;

      bit -= <u64>load<u8>(literalState, LITERAL_STATES + 13) + 4;
      literalState =
        <usize>load<u16>(literalState, LITERAL_STATES + 8) +
        (<usize>(word >> bit) & <usize>load<u16>(literalState, LITERAL_STATES + 10));
      bit -= <u64>load<u8>(matchState, MATCH_STATES + 13);
      matchState =
        <usize>load<u16>(matchState, MATCH_STATES + 8) +
        (<usize>(word >> bit) & <usize>load<u16>(matchState, MATCH_STATES + 10));
      bit -= <u64>load<u8>(offsetState, OFFSET_STATES + 13);
      offsetState =
        <usize>load<u16>(offsetState, OFFSET_STATES + 8) +
        (<usize>(word >> bit) & <usize>load<u16>(offsetState, OFFSET_STATES + 10));
      place -= <usize>((bit + 4) ^ 63) >> 3;
      bit = ((bit + 4) | 56) - 4;
      sequence += 16;
    }
    left = (<i32>(place + 7 - source) << 3) + <i32>((bit + 4) & 7);
    if (count == 0) left += stateBits;
    // Checked only here: bytes before the stream may be read, but they do not affect the result.
    if (left < 0 || allLiterals > literalsEnd - literal || allLiterals + allMatches > targetEnd - t) return 0;

    for (sequence = SEQUENCES; sequence < batchEnd; sequence += 16) {
      const literalSize = <usize>load<u32>(sequence);
      const matchSize = <usize>load<u32>(sequence, 4);
      const value = load<u32>(sequence, 8);
      if (value > 3) {
        offset3 = offset2;
        offset2 = offset1;
        offset1 = value - 3;
      } else {
        const which = value + <u32>(literalSize == 0);
        if (which != 1) {
          const again = which == 2 ? offset2 : which == 3 ? offset3 : offset1 - 1;
          if (which != 2) offset3 = offset2;
          offset2 = offset1;
          offset1 = again;
        }
      }
      const offset = <usize>offset1;
      const matchStart = t + literalSize;
      if (offset - 1 >= matchStart - target) return 0;
      v128.store(t, v128.load(literal));
      v128.store(t, v128.load(literal, 16), 16);
      if (literalSize > 32) copyLiterals(t + 32, literal + 32, literalSize - 32);
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

/** Number of bits that follow these states. */
function bitsOfStates(literalState: usize, matchState: usize, offsetState: usize): i32 {
  return (
    <i32>load<u8>(literalState, LITERAL_STATES + 13) +
    <i32>load<u8>(matchState, MATCH_STATES + 13) +
    <i32>load<u8>(offsetState, OFFSET_STATES + 13)
  );
}
