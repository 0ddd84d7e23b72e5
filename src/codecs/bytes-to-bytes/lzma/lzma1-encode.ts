import type { Compressor } from "./filters.ts";
import { LzmaEncoder } from "./lzma-encoder.ts";
import { ALONE_HEADER_SIZE } from "./lzma1.ts";
import { propertiesByte } from "./model.ts";
import { RangeEncoder } from "./range-encoder.ts";

/** The most bytes that `size` bytes can become. LZMA cannot store uncompressed data, so noise grows. */
export function maxLzma1Size(size: number): number {
  return size + Math.ceil(size / 3) + 128;
}

/**
 * Encodes `source` as one `.lzma` stream of unknown size.
 *
 * @returns as `encodeLzma1`.
 */
export function encodeAlone(source: Uint8Array, target: Uint8Array, compressor: Compressor): number {
  const header = new DataView(new ArrayBuffer(ALONE_HEADER_SIZE));
  header.setUint8(0, propertiesByte(compressor));
  header.setUint32(1, compressor.dictionarySize, true);
  header.setBigInt64(5, -1n);
  target.set(new Uint8Array(header.buffer).subarray(0, target.length));
  return encodeLzma1(source, target, ALONE_HEADER_SIZE, compressor);
}

/**
 * Encodes `source` with an end marker, from `start` on.
 *
 * @returns the end, which may be beyond `target`.
 */
export function encodeLzma1(
  source: Uint8Array,
  target: Uint8Array,
  start: number,
  compressor: Compressor,
): number {
  const encoder = new LzmaEncoder(source, compressor, compressor);
  const range = new RangeEncoder(target, start);
  encoder.encode(range, { sourceEnd: source.length, encodedEnd: Number.POSITIVE_INFINITY });
  encoder.encodeEnd(range);
  return range.finish();
}
