import { decodeHuffman, forgetHuffman, hasHuffman, readHuffman } from "./huffman-decode";
import { checksum } from "./xxh64";
import { decodeSequences, forgetOffsets } from "./zstd-decode-sequences";
import { forgetTables, LITERAL_KIND, MATCH_KIND, OFFSET_KIND, readTable } from "./zstd-states";

/** Frames of zstd (RFC 8878), decoded in one pass; the output so far is the window. */

const MAGIC: u32 = 0xfd2f_b528;
const MAX_BLOCK: usize = 128 * 1024;
const LITERALS = memory.data(128 * 1024 + 64, 16);

/** The literals of the current block. */
let literals: usize = 0;
let literalsSize: usize = 0;

/**
 * Decodes one frame, which is exactly the bytes from `source` to `sourceEnd`. Returns the bytes written, or -1 if it is
 * broken or decodes to more than the target holds.
 */
export function zstdDecode(source: usize, sourceEnd: usize, target: usize, targetEnd: usize): i32 {
  if (sourceEnd - source < 9 || load<u32>(source) != MAGIC) return -1;
  const descriptor = <u32>load<u8>(source, 4);
  const isSingle = (descriptor >> 5) & 1;
  const idSize: u32 = (1 << (descriptor & 3)) >> 1;
  const sizeCode = descriptor >> 6;
  const sizeSize: u32 = sizeCode == 0 ? isSingle : 1 << sizeCode;
  let s = source + <usize>(5 + 1 - isSingle + idSize + sizeSize);

  forgetHuffman();
  forgetTables();
  forgetOffsets();

  let t = target;
  while (true) {
    if (s + 3 > sourceEnd) return -1;
    const header = <u32>load<u16>(s) | (<u32>load<u8>(s, 2) << 16);
    s += 3;
    const kind = (header >> 1) & 3;
    const size = <usize>(header >> 3);
    if (kind == 1) {
      if (s >= sourceEnd || size > targetEnd - t) return -1;
      memory.fill(t, load<u8>(s), size);
      s++;
      t += size;
    } else {
      if (size > sourceEnd - s) return -1;
      if (kind == 0) {
        if (size > targetEnd - t) return -1;
        memory.copy(t, s, size);
        t += size;
      } else {
        if (kind == 3 || size > MAX_BLOCK) return -1;
        t = decodeBlock(s, s + size, t, target, targetEnd);
        if (t == 0) return -1;
      }
      s += size;
    }
    if ((header & 1) == 1) break;
  }
  if ((descriptor & 4) != 0) {
    if (s + 4 > sourceEnd || load<u32>(s) != checksum(target, t)) return -1;
    s += 4;
  }
  return s == sourceEnd ? <i32>(t - target) : -1;
}

/** Decodes one compressed block to `t`. Returns the end of its content, or 0 if it is broken. */
function decodeBlock(source: usize, sourceEnd: usize, t: usize, target: usize, targetEnd: usize): usize {
  let s = readLiterals(source, sourceEnd);
  if (s == 0 || s >= sourceEnd) return 0;
  let sequences = <u32>load<u8>(s++);
  if (sequences == 0) {
    if (s != sourceEnd || literalsSize > targetEnd - t) return 0;
    memory.copy(t, literals, literalsSize);
    return t + literalsSize;
  }
  if (sequences == 255) {
    sequences = <u32>load<u16>(s) + 0x7f00;
    s += 2;
  } else if (sequences >= 128) {
    sequences = ((sequences - 128) << 8) + <u32>load<u8>(s++);
  }
  if (s >= sourceEnd) return 0;
  const modes = <u32>load<u8>(s++);
  if ((modes & 3) != 0) return 0;
  s = readTable(LITERAL_KIND, modes >> 6, s, sourceEnd);
  if (s == 0) return 0;
  s = readTable(OFFSET_KIND, (modes >> 4) & 3, s, sourceEnd);
  if (s == 0) return 0;
  s = readTable(MATCH_KIND, (modes >> 2) & 3, s, sourceEnd);
  if (s == 0) return 0;
  return decodeSequences(s, sourceEnd, sequences, literals, literals + literalsSize, t, target, targetEnd);
}

/** Finds or decodes the literals of a block. Returns the end of their section, or 0 if it is broken. */
function readLiterals(source: usize, sourceEnd: usize): usize {
  if (source >= sourceEnd) return 0;
  const header = load<u64>(source);
  const kind = <u32>header & 3;
  const form = (<u32>header >> 2) & 3;
  if (kind < 2) {
    const headerSize: usize = form == 1 ? 2 : form == 3 ? 3 : 1;
    literalsSize = <usize>(form == 1 ? (header >> 4) & 0xfff : form == 3 ? (header >> 4) & 0xf_ffff : (header >> 3) & 31);
    const content = source + headerSize;
    const stored = kind == 0 ? literalsSize : 1;
    if (literalsSize > MAX_BLOCK || content > sourceEnd || stored > sourceEnd - content) return 0;
    if (kind == 0) literals = content;
    else {
      literals = LITERALS;
      memory.fill(LITERALS, load<u8>(content), literalsSize);
    }
    return content + stored;
  }

  const bits: u64 = form < 2 ? 10 : form == 2 ? 14 : 18;
  const headerSize: usize = form < 2 ? 3 : form == 2 ? 4 : 5;
  const mask: u64 = (1 << bits) - 1;
  literalsSize = <usize>((header >> 4) & mask);
  const encodedSize = <usize>((header >> (4 + bits)) & mask);
  let s = source + headerSize;
  if (literalsSize > MAX_BLOCK || s > sourceEnd || encodedSize > sourceEnd - s) return 0;
  const end = s + encodedSize;
  if (kind == 2) {
    const tableSize = readHuffman(s, end);
    if (tableSize == 0) return 0;
    s += tableSize;
  } else if (!hasHuffman()) return 0;
  literals = LITERALS;
  return decodeHuffman(s, end, LITERALS, literalsSize, form == 0 ? 1 : 4) ? end : 0;
}
