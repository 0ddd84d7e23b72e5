import { DELTA, type FilterChain, LZMA2 } from "./filters.ts";
import { encodeLzma2 } from "./lzma.ts";
import {
  CRC_SIZE,
  crcOf,
  dictionarySizeOf,
  FOOTER_MAGIC,
  HEADER_MAGIC,
  INDEX_INDICATOR,
  MAX_DICTIONARY_CODE,
  padded,
  type XzCheck,
} from "./xz-format.ts";

/** More than the bytes of header, block header, check, index and footer. */
export const XZ_OVERHEAD = 160;

/**
 * Encodes `filtered` as an .xz stream of one block, or of no block if it is empty.
 *
 * @param original the data before the delta filters, over which the check is computed.
 * @returns the bytes written, which may be more than `target` holds.
 */
export function encodeXz(
  original: Uint8Array,
  filtered: Uint8Array,
  target: Uint8Array,
  chain: FilterChain,
  check: XzCheck,
): number {
  const flags = [0, check.id];
  let t = put(target, 0, [...HEADER_MAGIC, ...flags]);
  t = putCrc(target, t - flags.length, t);

  const records: number[] = [];
  if (original.length > 0) {
    const start = t;
    t = putBlockHeader(target, t, chain, original.length);
    const end = encodeLzma2(filtered, target, t, chain.compressor);
    t = put(target, end, new Array<number>(padded(end - t) - (end - t)).fill(0));
    t = put(target, t, check.of(original));
    records.push(...number(end - start + check.size), ...number(original.length));
  }

  const indexStart = t;
  t = put(target, t, [INDEX_INDICATOR, original.length > 0 ? 1 : 0, ...records]);
  t = put(target, t, new Array<number>(padded(t - indexStart) - (t - indexStart)).fill(0));
  t = putCrc(target, indexStart, t);

  const words = (t - indexStart) / 4 - 1;
  const footer = t + CRC_SIZE;
  const end = put(target, footer, [...word(words), ...flags]);
  put(target, t, word(crcOf(target, footer, end)));
  return put(target, end, FOOTER_MAGIC);
}

function putBlockHeader(target: Uint8Array, start: number, chain: FilterChain, size: number): number {
  const filters = [
    ...chain.deltas.map((distance) => [DELTA, 1, distance - 1]),
    [LZMA2, 1, dictionaryCode(Math.min(size, chain.compressor.dictionarySize))],
  ];
  const body = [filters.length - 1, ...filters.flat()];
  const bodySize = padded(1 + body.length);
  let t = put(target, start, [bodySize / 4, ...body]);
  t = put(target, t, new Array<number>(start + bodySize - t).fill(0));
  return putCrc(target, start, t);
}

/** Code of the smallest dictionary of at least `size` bytes. */
function dictionaryCode(size: number): number {
  let code = 0;
  while (code < MAX_DICTIONARY_CODE && dictionarySizeOf(code) < size) code++;
  return code;
}

function put(target: Uint8Array, at: number, bytes: ArrayLike<number>): number {
  for (let i = 0; i < bytes.length; i++) target[at + i] = bytes[i] as number;
  return at + bytes.length;
}

function putCrc(target: Uint8Array, start: number, end: number): number {
  return put(target, end, word(crcOf(target, start, end)));
}

function word(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, value >>> 24];
}

/** Encodes a number in groups of seven bits, the lowest first. */
function number(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...number(Math.floor(value / 0x80))];
}
