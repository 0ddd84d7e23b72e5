import { wordsOf } from "../kernels/swap-bytes.ts";
import { corrupt, overrun } from "../limits.ts";
import { LzmaDecoder, type Progress, RangeDecoder } from "./decoder.ts";
import { LzmaEncoder, RangeEncoder } from "./encoder.ts";
import type { Compressor } from "./filters.ts";
import { type LzmaProperties, propertiesByte, propertiesOf } from "./model.ts";

/** Properties, dictionary size, decoded size. */
export const ALONE_HEADER_SIZE = 13;
const UNKNOWN = 0xffff_ffff;

/**
 * Decodes one `.lzma` ("alone") stream.
 *
 * @throws `corrupt-chunk`, `codec-error`
 */
export function decodeAlone(source: Uint8Array, target: Uint8Array, { read, written }: Progress): Progress {
  if (source.length - read < ALONE_HEADER_SIZE) throw corrupt("the LZMA data are truncated");
  const words = wordsOf(source);
  const properties = propertiesOf(words.getUint8(read));
  const low = words.getUint32(read + 5, true);
  const high = words.getUint32(read + 9, true);
  const size = low === UNKNOWN && high === UNKNOWN ? undefined : high * 2 ** 32 + low;
  return decodeLzma1(source, target, { read: read + ALONE_HEADER_SIZE, written }, properties, size);
}

/**
 * Decodes one LZMA stream, of `size` bytes or up to its end marker.
 *
 * @throws `corrupt-chunk`
 */
export function decodeLzma1(
  source: Uint8Array,
  target: Uint8Array,
  { read, written }: Progress,
  properties: LzmaProperties,
  size?: number,
): Progress {
  const room = target.length - written;
  if (size !== undefined && size > room) throw overrun(target.length);
  const tooLong = () =>
    size === undefined ? overrun(target.length) : corrupt("the LZMA data are longer than they state");

  const range = new RangeDecoder(source, read, source.length);
  const decoder = new LzmaDecoder(target);
  decoder.dictionaryStart = written;
  decoder.reset(properties);
  const end = decoder.decode(range, written, written + (size ?? room), tooLong);
  if (size !== undefined && end - written < size) {
    throw corrupt("the LZMA data are shorter than they state", { expected: size, found: end - written });
  }
  // An end marker may follow even if the size is stated.
  const mayEnd = decoder.hasEnded || (size !== undefined && range.isFinished);
  if (!mayEnd && !decoder.takeEnd(range, end)) throw tooLong();
  if (!range.isFinished) throw corrupt("the LZMA data do not end where they should");
  return { read: range.position, written: end };
}

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
