import { highBit } from "./bits";
import { searchDouble } from "./zstd-double";
import { searchFast } from "./zstd-fast";
import { searchLazy } from "./zstd-lazy";
import { firstPlaced, indexMask, placeBlock, PRIME, startPlaces } from "./zstd-places";
import { startRows } from "./zstd-rows";
import { addLiterals, startBlock, startFrame } from "./zstd-sequences";

/** The match search: selects the search and its settings by the level and size of a frame. */

/** Bytes that a hash reads. */
const READ: usize = 8;

/** Levels up to these search by one hash and by two hashes; higher levels search by rows. */
const LAST_FAST: i32 = 2;
const LAST_DOUBLE: i32 = 3;

let level: i32 = 0;
let prime: u64 = 0;
/** Mask of the bytes that the search by two hashes uses. */
let bytes: u64 = 0;
let mask: u32 = 0;
let longMask: u32 = 0;
let firstStep: usize = 2;
let firstPatience: usize = 0;
let patience: usize = 0;
let depth: u32 = 0;
let window: usize = 0;
let frame: usize = 0;

/** Starts a frame of `size` bytes at `source`. */
export function startSearch(source: usize, size: usize, frameLevel: i32, windowSize: usize): void {
  startFrame();
  level = frameLevel;
  frame = source;
  window = windowSize;
  const isSmall = size <= 16 * 1024;
  const isMiddle = size <= 256 * 1024;
  if (level > LAST_DOUBLE) {
    // Greedy up to level 5, lazy from 6, lazier from 8.
    depth = level < 6 ? 0 : level < 8 ? 1 : 2;
    const hashed: u64 = size <= 128 * 1024 || (isMiddle && level > 6) ? 4 : 5;
    startRows(source, size, rowBits(size), primeOf(hashed), level == 4 ? 4 : level < 7 ? 8 : 16);
    return;
  }
  startPlaces(source, size);
  if (level > LAST_FAST) {
    bytes = isSmall || (isMiddle && size > 128 * 1024) ? 0xffff_ffff : 0xff_ffff_ffff;
    // Small tables stay in the caches of the processor.
    const placeBits = highBit(<u32>size | 255) + 1;
    longMask = indexMask(min(placeBits, isMiddle ? 16 : 17));
    mask = indexMask(min(placeBits + 1, 16));
    firstPatience = size <= 128 * 1024 ? 64 : 256;
    patience = isSmall ? 128 : 256;
  } else {
    prime = primeOf(level == 2 || level < 0 ? 6 : isSmall ? 5 : isMiddle ? 6 : 7);
    mask = indexMask(level == 2 ? 16 : 14);
    firstStep = level < 0 ? <usize>(1 - level) : 2;
  }
}

/** The factor that hashes this many bytes. */
function primeOf(bytes: u64): u64 {
  return PRIME << (64 - 8 * bytes);
}

/** Bits of the row index for rows with room for every byte. */
function rowBits(size: usize): u32 {
  return max(highBit(<u32>size | 255) - 3, 5);
}

/** Finds the sequences of one block. */
export function searchBlock(source: usize, sourceEnd: usize): void {
  if (level <= LAST_DOUBLE) placeBlock(source, sourceEnd);
  startBlock();
  let anchor = source;
  if (sourceEnd - source > READ + 4) {
    const start = source == frame ? source + 1 : source;
    const limit = sourceEnd - READ;
    const floor = level > LAST_DOUBLE ? frame : firstPlaced;
    const lowest = sourceEnd - floor > window ? sourceEnd - window : floor;
    anchor =
      level > LAST_DOUBLE
        ? searchLazy(source, start, sourceEnd, limit, lowest, depth)
        : level > LAST_FAST
          ? searchDouble(source, start, sourceEnd, limit, lowest, bytes, mask, longMask, firstPatience, patience)
          : searchFast(source, start, sourceEnd, limit, lowest, prime, mask, firstStep);
  }
  addLiterals(anchor, sourceEnd);
}
