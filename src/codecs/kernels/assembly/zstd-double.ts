import { matchLength } from "./copy";
import { aboveLow, findLong, findShort, hashOf, hashOfBytes, keepLong, keepShort, PRIME, shift } from "./zstd-places";
import { addSequence, keepRecent, recent1, recent2 } from "./zstd-sequences";

/**
 * Searches for matches of eight bytes first, then of the bytes that `bytes` selects. Without a match, steps grow by one
 * after `firstPatience` bytes and then after every `patience` bytes. Other arguments and the result are as for
 * `searchFast`.
 */
export function searchDouble(
  source: usize,
  start: usize,
  sourceEnd: usize,
  limit: usize,
  lowest: usize,
  bytes: u64,
  mask: u32,
  longMask: u32,
  firstPatience: usize,
  patience: usize,
): usize {
  const by = shift;
  const low = <u32>lowest + by;
  let offset1 = recent1;
  let offset2 = recent2;
  let anchor = source;
  let s = start;

  while (s < limit) {
    let step: usize = 1;
    let nextStep = s + firstPatience;
    let end = min(nextStep, limit);
    let next = s + 1;
    const hash = hashOf(s, PRIME);
    let above = aboveLow(findLong(hash, longMask), hash, low);
    keepLong(hash, longMask, <u32>s + by);
    let match: usize = 0;
    let length: usize = 0;
    while (true) {
      if (next > end) {
        if (next > limit) break;
        step++;
        nextStep += patience;
        end = min(nextStep, limit);
      }
      const short = hashOfBytes(s, bytes);
      const aboveShort = aboveLow(findShort(short, mask), short, low);
      keepShort(short, mask, <u32>s + by);
      if (load<u32>(s + 1) == load<u32>(s + 1 - offset1)) {
        s++;
        match = s - offset1;
        break;
      }
      if (above < <u32>(s - lowest)) {
        if (load<u64>(lowest + above) == load<u64>(s)) {
          match = lowest + above;
          length = matchLength(s + 8, match + 8, sourceEnd) + 8;
          break;
        }
      }
      const nextHash = hashOf(next, PRIME);
      above = aboveLow(findLong(nextHash, longMask), nextHash, low);
      keepLong(nextHash, longMask, <u32>next + by);
      if (aboveShort < <u32>(s - lowest)) {
        if (load<u32>(lowest + aboveShort) == load<u32>(s)) {
          match = lowest + aboveShort;
          length = matchLength(s + 4, match + 4, sourceEnd) + 4;
          if (above < <u32>(next - lowest) && load<u64>(lowest + above) == load<u64>(next)) {
            const farther = matchLength(next + 8, lowest + above + 8, sourceEnd) + 8;
            if (farther > length) {
              s = next;
              match = lowest + above;
              length = farther;
            }
          }
          break;
        }
      }
      s = next;
      next += step;
    }
    if (match == 0) break;

    const first = s;
    if (length == 0) {
      length = matchLength(s + 4, match + 4, sourceEnd) + 4;
      addSequence(anchor, s, 1, length);
    } else {
      while (s > anchor && match > lowest && load<u8>(s - 1) == load<u8>(match - 1)) {
        s--;
        match--;
        length++;
      }
      offset2 = offset1;
      offset1 = <u32>(s - match);
      addSequence(anchor, s, offset1 + 3, length);
    }
    s += length;
    anchor = s;
    if (s > limit) break;
    keepLong(hashOf(first + 2, PRIME), longMask, <u32>first + 2 + by);
    keepLong(hashOf(s - 2, PRIME), longMask, <u32>s - 2 + by);
    keepShort(hashOfBytes(first + 2, bytes), mask, <u32>first + 2 + by);
    keepShort(hashOfBytes(s - 1, bytes), mask, <u32>s - 1 + by);
    while (s <= limit && load<u32>(s) == load<u32>(s - offset2)) {
      const again = matchLength(s + 4, s + 4 - offset2, sourceEnd) + 4;
      const other = offset1;
      offset1 = offset2;
      offset2 = other;
      keepShort(hashOfBytes(s, bytes), mask, <u32>s + by);
      keepLong(hashOf(s, PRIME), longMask, <u32>s + by);
      addSequence(s, s, 1, again);
      s += again;
      anchor = s;
    }
  }
  keepRecent(offset1, offset2);
  return anchor;
}
