import { crc32 } from "../../util/crc32.ts";

/** The parts of the .xz container that both directions use. They are padded to whole words of four bytes. */

export const HEADER_MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] as const;
export const FOOTER_MAGIC = [0x59, 0x5a] as const;

/** Marks the index; stands in the place of a block's header size. */
export const INDEX_INDICATOR = 0;

/** Flags of a block header; the lowest two bits are the number of filters, minus one. */
export const FILTER_COUNT = 0x03;
export const RESERVED_FLAGS = 0x3c;
export const HAS_ENCODED_SIZE = 0x40;
export const HAS_DECODED_SIZE = 0x80;

/** Rounds `size` up to whole words. */
export function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}

/** Sizes of a block as listed in the index: header, data and check without padding; decoded bytes. */
export interface BlockSizes {
  readonly unpadded: number;
  readonly decoded: number;
}

/** Bytes of the CRC-32 of a header. */
export const CRC_SIZE = 4;

export function crcOf(bytes: Uint8Array, start: number, end: number): number {
  return crc32(bytes.subarray(start, end));
}

/** True if `bytes` contain `magic` at `at`. */
export function hasMagic(bytes: Uint8Array, at: number, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[at + i] === byte);
}

/** Codes of dictionary sizes in LZMA2's properties byte: 2^n or 3 * 2^n; the largest is 4 GiB minus one. */
export const MAX_DICTIONARY_CODE = 40;

export function dictionarySizeOf(code: number): number {
  return code === MAX_DICTIONARY_CODE ? 2 ** 32 - 1 : (2 | (code & 1)) * 2 ** ((code >> 1) + 11);
}
