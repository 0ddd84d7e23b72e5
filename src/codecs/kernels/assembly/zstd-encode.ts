import { forgetCodes, writeLiterals, writePlain } from "./huffman-encode";
import { checksum } from "./xxh64";
import { writeSequences } from "./zstd-encode-sequences";
import { searchBlock, startSearch } from "./zstd-match";
import { dropBlock, LITERALS, literalsEnd } from "./zstd-sequences";

/** Frames of zstd (RFC 8878), with the content size and optionally a checksum. */

const MAGIC: u32 = 0xfd2f_b528;
const MAX_BLOCK: usize = 128 * 1024;
const WINDOW_LOG: u32 = 21;

/** True to favour speed over size: literals are not encoded. */
let hasPlainLiterals = false;

/**
 * Encodes the bytes from `source` to `sourceEnd` as one frame at `target`, which has room for the content, 1/256 more,
 * and 512 KiB. Levels below 0 take larger steps, 1 and 2 search by one hash, 3 by two, 4 to 9 by rows. Returns the size
 * of the frame.
 */
export function zstdEncode(source: usize, sourceEnd: usize, target: usize, level: i32, hasChecksum: bool): u32 {
  const size = sourceEnd - source;
  const isSingle = size <= 1 << WINDOW_LOG;
  let t = writeFrameHeader(target, <u32>size, isSingle, hasChecksum);
  forgetCodes();
  hasPlainLiterals = level < 0;
  startSearch(source, size, level, isSingle ? max(size, 1024) : 1 << WINDOW_LOG);
  let s = source;
  do {
    const blockSize = min(MAX_BLOCK, sourceEnd - s);
    const isLast = s + blockSize == sourceEnd;
    t = writeBlock(s, blockSize, t, isLast);
    s += blockSize;
  } while (s < sourceEnd);
  if (hasChecksum) {
    store<u32>(t, checksum(source, sourceEnd));
    t += 4;
  }
  return <u32>(t - target);
}

function writeFrameHeader(target: usize, size: u32, isSingle: bool, hasChecksum: bool): usize {
  const sizeCode: u32 = size < 256 && isSingle ? 0 : size < 65_536 + 256 && size >= 256 ? 1 : 2;
  store<u32>(target, MAGIC);
  store<u8>(target, <u8>((sizeCode << 6) | (<u32>isSingle << 5) | (<u32>hasChecksum << 2)), 4);
  let t = target + 5;
  if (!isSingle) store<u8>(t++, <u8>((WINDOW_LOG - 10) << 3));
  if (sizeCode == 0) store<u8>(t++, <u8>size);
  else if (sizeCode == 1) {
    store<u16>(t, <u16>(size - 256));
    t += 2;
  } else {
    store<u32>(t, size);
    t += 4;
  }
  return t;
}

/** Writes one block: as a run of one byte, encoded, or uncompressed. */
function writeBlock(source: usize, size: usize, target: usize, isLast: bool): usize {
  const content = target + 3;
  if (size > 4 && isRun(source, size)) {
    writeBlockHeader(target, 1, <u32>size, isLast);
    store<u8>(content, load<u8>(source));
    return content + 1;
  }
  if (size > 16) {
    searchBlock(source, source + size);
    const literalsSize = literalsEnd - LITERALS;
    const sequences = hasPlainLiterals
      ? writePlain(content, LITERALS, literalsSize)
      : writeLiterals(content, LITERALS, literalsSize);
    const end = writeSequences(sequences);
    if (end < content + size) {
      writeBlockHeader(target, 2, <u32>(end - content), isLast);
      return end;
    }
    forgetCodes();
    dropBlock();
  }
  writeBlockHeader(target, 0, <u32>size, isLast);
  memory.copy(content, source, size);
  return content + size;
}

function writeBlockHeader(target: usize, kind: u32, size: u32, isLast: bool): void {
  const header = <u32>isLast | (kind << 1) | (size << 3);
  store<u16>(target, <u16>header);
  store<u8>(target, <u8>(header >> 16), 2);
}

function isRun(source: usize, size: usize): bool {
  const first = load<u8>(source);
  if (load<u8>(source + size - 1) != first) return false;
  let s = source;
  const end = source + size;
  const all = <u64>first * 0x0101_0101_0101_0101;
  for (; s + 8 <= end; s += 8) if (load<u64>(s) != all) return false;
  for (; s < end; s++) if (load<u8>(s) != first) return false;
  return true;
}
