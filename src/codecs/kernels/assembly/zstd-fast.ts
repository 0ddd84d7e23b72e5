import { matchLength } from "./copy";
import { aboveLow, findShort, hashOf, keepShort, shift, spanAbove } from "./zstd-places";
import { addSequence, keepRecent, recent1, recent2 } from "./zstd-sequences";

/** Bytes without a match after which steps grow by one. */
const PATIENCE: usize = 128;

/**
 * Searches for matches at two adjacent positions by one hash each, then `firstStep` further on. Returns the end of the
 * last match. Matches start at `lowest` or above; `start` is the first position to try, `limit` the last position to
 * hash.
 */
export function searchFast(
  source: usize,
  start: usize,
  sourceEnd: usize,
  limit: usize,
  lowest: usize,
  prime: u64,
  mask: u32,
  firstStep: usize,
): usize {
  const by = shift;
  const low = <u32>lowest + by;
  const span = spanAbove(low);
  let offset1 = recent1;
  let offset2 = recent2;
  let anchor = source;
  let s = start;

  while (s + firstStep + 1 < limit) {
    let step = firstStep;
    let nextStep = s + PATIENCE;
    let hash = hashOf(s, prime);
    let hash1 = hashOf(s + 1, prime);
    let first = s;
    let match: usize = 0;
    let isRecent = false;
    while (true) {
      const s2 = s + step;
      if (s2 + 1 >= limit) break;
      first = s;
      const above = aboveLow(findShort(hash, mask), hash, low);
      keepShort(hash, mask, <u32>s + by);
      const above1 = findShort(hash1, mask);
      keepShort(hash1, mask, <u32>s + 1 + by);
      if (load<u32>(s2) == load<u32>(s2 - offset1)) {
        s = s2;
        match = s2 - offset1;
        isRecent = true;
        break;
      }
      if (above < span && load<u32>(lowest + above) == load<u32>(s)) {
        match = lowest + above;
        break;
      }
      hash = hashOf(s2, prime);
      const other = aboveLow(above1, hash1, low);
      if (other < span && load<u32>(lowest + other) == load<u32>(s + 1)) {
        s++;
        match = lowest + other;
        if (step <= 4) keepShort(hash, mask, <u32>s2 + by);
        break;
      }
      hash1 = hashOf(s2 + 1, prime);
      s = s2;
      if (s >= nextStep) {
        step++;
        nextStep += PATIENCE;
      }
    }
    if (match == 0) break;

    let length = matchLength(s + 4, match + 4, sourceEnd) + 4;
    // Without literals, the code of a recent offset has another meaning.
    const floor = anchor + <usize>isRecent;
    while (s > floor && match > lowest && load<u8>(s - 1) == load<u8>(match - 1)) {
      s--;
      match--;
      length++;
    }
    if (isRecent) addSequence(anchor, s, 1, length);
    else {
      offset2 = offset1;
      offset1 = <u32>(s - match);
      addSequence(anchor, s, offset1 + 3, length);
    }
    s += length;
    anchor = s;
    if (s > limit) break;
    keepShort(hashOf(first + 2, prime), mask, <u32>first + 2 + by);
    keepShort(hashOf(s - 2, prime), mask, <u32>s - 2 + by);
    while (s <= limit && load<u32>(s) == load<u32>(s - offset2)) {
      const again = matchLength(s + 4, s + 4 - offset2, sourceEnd) + 4;
      const other = offset1;
      offset1 = offset2;
      offset2 = other;
      keepShort(hashOf(s, prime), mask, <u32>s + by);
      addSequence(s, s, 1, again);
      s += again;
      anchor = s;
    }
  }
  keepRecent(offset1, offset2);
  return anchor;
}
