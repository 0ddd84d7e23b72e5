import { canSplit, type InnerName, MIN_STREAM } from "./frame.ts";

const KIB = 1024;
const MIN_SPLIT_BLOCK = 64 * KIB;
const MAX_SPLIT_STREAM = 256 * KIB;
const MAX_SPLIT_BLOCK = 1024 * KIB;
const MAX_BLOCK = 2 ** 31 - 1 - 64 * KIB;

/** Block size by level, as a multiple of 32 KiB. */
const FACTORS = [1 / 4, 1 / 2, 1, 2, 4, 4, 8, 8, 8, 8] as const;

/** True if new values with this inner codec split their blocks: all codecs except zstd do if the block can be split. */
export function splitsBlocks(inner: InnerName, typeSize: number, blockSize: number): boolean {
  return inner !== "zstd" && canSplit(typeSize, blockSize);
}

/**
 * Chooses the block size for `size` bytes of items of `typeSize` as c-blosc does, so that values compress equally well.
 * `highRatio` marks codecs for long input: lz4hc, zlib and zstd.
 *
 * @param wanted the size set by the user; 0 derives it from the level.
 */
export function chooseBlockSize(
  size: number,
  typeSize: number,
  level: number,
  inner: InnerName,
  highRatio: boolean,
  wanted: number,
): number {
  if (size < typeSize) return 1;
  let blockSize = size;
  if (wanted > 0) blockSize = Math.min(Math.max(wanted, MIN_STREAM), MAX_BLOCK);
  else if (size >= 32 * KIB) {
    blockSize = 32 * KIB * (FACTORS[level] ?? 1) * (highRatio ? 2 : 1);
    if (level === 9 && highRatio) blockSize *= 2;
  }
  if (level > 0 && splitsBlocks(inner, typeSize, blockSize)) {
    const split = Math.min(blockSize, MAX_SPLIT_STREAM) * typeSize;
    blockSize = Math.min(Math.max(split, MIN_SPLIT_BLOCK), MAX_SPLIT_BLOCK);
  }
  blockSize = Math.min(blockSize, size);
  return blockSize > typeSize ? blockSize - (blockSize % typeSize) : blockSize;
}
