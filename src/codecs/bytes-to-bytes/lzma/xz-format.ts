import { crc32 } from "../../../util/crc32.ts";

/** What both directions know of the .xz container. Its parts are padded to whole words of four bytes. */

export const HEADER_MAGIC = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] as const;
export const FOOTER_MAGIC = [0x59, 0x5a] as const;

/** In place of a block's header size: the index. */
export const INDEX_INDICATOR = 0;

/** Flags of a block's header; the lowest two bits are the number of filters, less one. */
export const FILTER_COUNT = 0x03;
export const RESERVED_FLAGS = 0x3c;
export const HAS_ENCODED_SIZE = 0x40;
export const HAS_DECODED_SIZE = 0x80;

/** `size` and what it takes to fill the last word. */
export function padded(size: number): number {
  return Math.ceil(size / 4) * 4;
}

/** Sizes of a block, as the index lists them: header, data and check without padding; decoded bytes. */
export interface BlockSizes {
  readonly unpadded: number;
  readonly decoded: number;
}

/** Bytes of the CRC-32 of a header. */
export const CRC_SIZE = 4;

export function crcOf(bytes: Uint8Array, start: number, end: number): number {
  return crc32(bytes.subarray(start, end));
}

/** Whether `magic` stands at `at`. */
export function hasMagic(bytes: Uint8Array, at: number, magic: readonly number[]): boolean {
  return magic.every((byte, i) => bytes[at + i] === byte);
}

/** The dictionary size that LZMA2's one byte of properties states: 2^n or 3 * 2^n, and 4 GiB less one. */
export const MAX_DICTIONARY_CODE = 40;

export function dictionarySizeOf(code: number): number {
  return code === MAX_DICTIONARY_CODE ? 2 ** 32 - 1 : (2 | (code & 1)) * 2 ** ((code >> 1) + 11);
}
