import { crc32 } from "../../util/crc32.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { Sha256 } from "../../util/sha256.ts";

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

/** CRC of each byte followed by 0 to 3 zero bytes, at index `256 * zeros + byte`; low half and high half. */
const low = new Int32Array(4 * 256);
const high = new Int32Array(4 * 256);
for (let slot = 0; slot < low.length; slot++) {
  let l = slot < 256 ? slot : (low[slot - 256] as number);
  let h = slot < 256 ? 0 : (high[slot - 256] as number);
  for (let bit = 0; bit < 8; bit++) {
    const isOdd = (l & 1) === 1;
    l = (l >>> 1) | (h << 31);
    h >>>= 1;
    if (isOdd) [l, h] = [l ^ 0xd787_0f42, h ^ 0xc96c_5795];
  }
  low[slot] = l;
  high[slot] = h;
}

/** CRC-64 as in xz (ECMA-182, reflected), four bytes per step; returns eight bytes, little-endian. */
export function crc64(bytes: Uint8Array): Uint8Array {
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let l = -1;
  let h = -1;
  let i = 0;
  for (const end = bytes.length - 3; i < end; i += 4) {
    const word = l ^ words.getInt32(i, true);
    const a = 768 | (word & 0xff);
    const b = 512 | ((word >>> 8) & 0xff);
    const c = 256 | ((word >>> 16) & 0xff);
    const d = word >>> 24;
    l = h ^ (low[a] as number) ^ (low[b] as number) ^ (low[c] as number) ^ (low[d] as number);
    h = (high[a] as number) ^ (high[b] as number) ^ (high[c] as number) ^ (high[d] as number);
  }
  for (; i < bytes.length; i++) {
    const slot = (l ^ (bytes[i] as number)) & 0xff;
    l = ((l >>> 8) | (h << 24)) ^ (low[slot] as number);
    h = (h >>> 8) ^ (high[slot] as number);
  }
  const sum = new DataView(new ArrayBuffer(8));
  sum.setInt32(0, ~l, true);
  sum.setInt32(4, ~h, true);
  return new Uint8Array(sum.buffer);
}

/** A check of the decoded bytes that xz stores for each block. */
export interface XzCheck {
  /** Its number in the flags of the stream. */
  readonly id: number;
  readonly name: string;
  /** Bytes of the stored check. */
  readonly size: number;
  readonly of: (bytes: Uint8Array) => Uint8Array;
}

export const DEFAULT_CHECK = 4;

const checks: readonly XzCheck[] = [
  { id: 0, name: "none", size: 0, of: () => new Uint8Array(0) },
  { id: 1, name: "CRC-32", size: 4, of: crc32Bytes },
  { id: 4, name: "CRC-64", size: 8, of: crc64 },
  { id: 10, name: "SHA-256", size: 32, of: (bytes) => new Sha256().update(bytes).digest() },
];

/** @throws `codec-error` if there is no check with this number. */
export function xzCheck(id: number): XzCheck {
  const check = checks.find((one) => one.id === id);
  if (check) return check;
  throw new ZarrflowError("codec-error", "the xz check has an unknown type", {
    expected: checks.map((one) => `${one.id} (${one.name})`).join(", "),
    found: id,
  });
}

function crc32Bytes(bytes: Uint8Array): Uint8Array {
  const sum = new Uint8Array(4);
  new DataView(sum.buffer).setUint32(0, crc32(bytes), true);
  return sum;
}
