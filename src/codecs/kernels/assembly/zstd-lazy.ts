import { highBit } from "./bits";
import { matchLength } from "./copy";
import { foundOffset, longestMatch, skipTo } from "./zstd-rows";
import { addSequence, keepRecent, recent1, recent2 } from "./zstd-sequences";

/** After steps longer than this, skipped positions are not kept. */
const PATIENCE: usize = 8;

/**
 * Searches for the longest match at each position and, before using it, for a better match at up to `depth` following
 * positions. Otherwise arguments and result are as for `searchFast`.
 */
export function searchLazy(
  source: usize,
  start: usize,
  sourceEnd: usize,
  limit: usize,
  lowest: usize,
  depth: u32,
): usize {
  let offset1 = recent1;
  let offset2 = recent2;
  let anchor = source;
  let s = start;

  while (s < limit) {
    let at = s;
    // An offset of 0 stands for the previous offset.
    let offset: u32 = 0;
    let length = recentLength(s + 1, offset1, sourceEnd);
    if (length > 0) at = s + 1;
    if (length == 0 || depth > 0) {
      const found = longestMatch(s, sourceEnd, lowest);
      if (found > max(length, 3)) {
        at = s;
        length = found;
        offset = foundOffset;
      }
    }
    if (length == 0) {
      const step = ((s - anchor) >> 8) + 1;
      s += step;
      if (step > PATIENCE) skipTo(min(s, sourceEnd));
      continue;
    }

    let looks: u32 = 0;
    while (looks < depth && s + 1 < limit) {
      s++;
      looks++;
      const again = <i32>recentLength(s, offset1, sourceEnd);
      const weight = looks == 1 ? 3 : 4;
      if (again > 0 && again * weight > <i32>length * weight - costOf(offset) + 1) {
        at = s;
        length = again;
        offset = 0;
      }
      const found = longestMatch(s, sourceEnd, lowest);
      const least = <i32>length * 4 - costOf(offset) + (looks == 1 ? 4 : 7);
      if (found > 3 && <i32>found * 4 - costOf(foundOffset) > least) {
        at = s;
        length = found;
        offset = foundOffset;
        looks = 0;
      }
    }

    if (offset == 0) addSequence(anchor, at, 1, length);
    else {
      while (at > anchor && at - offset > lowest && load<u8>(at - 1) == load<u8>(at - 1 - offset)) {
        at--;
        length++;
      }
      offset2 = offset1;
      offset1 = offset;
      addSequence(anchor, at, offset + 3, length);
    }
    s = at + length;
    anchor = s;
    while (s <= limit) {
      const again = recentLength(s, offset2, sourceEnd);
      if (again == 0) break;
      const other = offset1;
      offset1 = offset2;
      offset2 = other;
      addSequence(s, s, 1, again);
      s += again;
      anchor = s;
    }
  }
  keepRecent(offset1, offset2);
  return anchor;
}

/** Length of the match at `s` with a recent offset, or 0 if it is shorter than four bytes. */
// @ts-ignore: decorator
@inline
function recentLength(s: usize, offset: u32, sourceEnd: usize): usize {
  return load<u32>(s) == load<u32>(s - offset) ? matchLength(s + 4, s + 4 - offset, sourceEnd) + 4 : 0;
}

/** Approximate bits of an offset. */
// @ts-ignore: decorator
@inline
function costOf(offset: u32): i32 {
  return offset == 0 ? 0 : <i32>highBit(offset + 3);
}
