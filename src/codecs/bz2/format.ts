/** The parts of the bzip2 format that both directions use. Numbers are stored as bits, the highest first. */

/** `BZh`; the level follows as a digit. */
export const STREAM_MAGIC = [0x42, 0x5a, 0x68] as const;
/** The two halves of the start of a block, the digits of pi. */
export const BLOCK_MAGIC = [0x314159, 0x265359] as const;
/** The two halves of the end of a stream, the digits of the square root of pi. */
export const END_MAGIC = [0x177245, 0x385090] as const;

/** Bytes of a block at level 1; a block at level n has n times as many. */
export const BLOCK_UNIT = 100_000;

/** After a run of four equal bytes, one byte counts how many more follow. */
export const RUN_START = 4;

/** Symbols that count zeros of the move-to-front list, as digits 1 and 2 of a number in base two. */
export const RUN_A = 0;
export const RUN_B = 1;

export const MAX_TABLES = 6;
/** Symbols that share a Huffman table. */
export const GROUP_SIZE = 50;
/** Two run symbols, 255 positions in the list (all but the first), and the end of the block. */
export const MAX_ALPHABET = 258;
/** The longest code that decoders accept. */
export const MAX_CODE_LENGTH = 20;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

/** bzip2's CRC-32 of `bytes[start, end)`: the polynomial of zip, but the highest bit first. */
export function blockCrc(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  for (let i = start; i < end; i++) {
    crc = (crc << 8) ^ (table[(crc >>> 24) ^ (bytes[i] as number)] as number);
  }
  return ~crc >>> 0;
}

/** The CRC of a stream after one more block. */
export function streamCrc(before: number, block: number): number {
  return (((before << 1) | (before >>> 31)) ^ block) >>> 0;
}
