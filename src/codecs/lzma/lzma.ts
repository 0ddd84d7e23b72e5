import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt, overrun } from "../limits.ts";
import { type DecoderPosition, LzmaDecoder, RangeDecoder } from "./decoder.ts";
import { LzmaEncoder, RangeEncoder } from "./encoder.ts";
import type { Compressor } from "./filters.ts";
import { type LzmaProperties, MAX_MATCH, propertiesByte, propertiesOf } from "./model.ts";

/** Properties, dictionary size, decoded size. */
export const ALONE_HEADER_SIZE = 13;
const UNKNOWN = 0xffff_ffff;

/**
 * Decodes one `.lzma` ("alone") stream.
 *
 * @throws `corrupt-chunk`, `codec-error`
 */
export function decodeAlone(
  source: Uint8Array,
  target: Uint8Array,
  { read, written }: DecoderPosition,
): DecoderPosition {
  if (source.length - read < ALONE_HEADER_SIZE) throw corrupt("the LZMA data is truncated");
  const words = wordView(source);
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
  { read, written }: DecoderPosition,
  properties: LzmaProperties,
  size?: number,
): DecoderPosition {
  const room = target.length - written;
  if (size !== undefined && size > room) throw overrun(target.length);
  const tooLong = () =>
    size === undefined ? overrun(target.length) : corrupt("the LZMA data is longer than its stated size");

  const range = new RangeDecoder(source, read, source.length);
  const decoder = new LzmaDecoder(target);
  decoder.dictionaryStart = written;
  decoder.reset(properties);
  const end = decoder.decode(range, written, written + (size ?? room), tooLong);
  if (size !== undefined && end - written < size) {
    throw corrupt("the LZMA data is shorter than its stated size", { expected: size, found: end - written });
  }
  // An end marker may follow even if the size is stated.
  const mayEnd = decoder.hasEnded || (size !== undefined && range.isFinished);
  if (!mayEnd && !decoder.takeEnd(range, end)) throw tooLong();
  if (!range.isFinished) throw corrupt("the LZMA data does not end where it should");
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

/** Values of the first byte of a chunk. For LZMA chunks its low bits are part of the size. */
export const END = 0x00;
export const STORED_WITH_RESET = 0x01;
export const STORED = 0x02;
export const LZMA = 0x80;
export const LZMA_WITH_STATE_RESET = 0xa0;
export const LZMA_WITH_PROPERTIES = 0xc0;
export const LZMA_WITH_DICTIONARY_RESET = 0xe0;

/**
 * Decodes one LZMA2 stream: chunks, stored or LZMA, that share a dictionary.
 *
 * @throws `corrupt-chunk`, `codec-error`
 */
export function decodeLzma2(
  source: Uint8Array,
  target: Uint8Array,
  { read, written }: DecoderPosition,
): DecoderPosition {
  const decoder = new LzmaDecoder(target);
  let needsDictionary = true;
  let needsProperties = true;
  let s = read;
  let t = written;
  const byteAt = (i: number): number => {
    if (i >= source.length) throw corrupt("the LZMA2 data is truncated");
    return source[i] as number;
  };
  const sizeAt = (i: number): number => (byteAt(i) << 8) + byteAt(i + 1) + 1;

  for (;;) {
    const control = byteAt(s++);
    if (control === END) return { read: s, written: t };
    if (control === STORED_WITH_RESET || control >= LZMA_WITH_DICTIONARY_RESET) {
      decoder.dictionaryStart = t;
      needsDictionary = false;
      needsProperties = true;
    }
    if (needsDictionary || (control > STORED && control < LZMA))
      throw corrupt("an LZMA2 chunk has an unknown type");

    if (control < LZMA) {
      const size = sizeAt(s);
      s += 2;
      if (size > source.length - s) throw corrupt("the LZMA2 data is truncated");
      if (size > target.length - t) throw overrun(target.length);
      target.set(source.subarray(s, s + size), t);
      s += size;
      t += size;
      continue;
    }

    const size = ((control & 0x1f) << 16) + sizeAt(s);
    const encodedSize = sizeAt(s + 2);
    s += 4;
    if (control >= LZMA_WITH_PROPERTIES) {
      decoder.reset(propertiesOf(byteAt(s++)));
      needsProperties = false;
    } else if (needsProperties) {
      throw corrupt("an LZMA2 chunk has no properties");
    } else if (control >= LZMA_WITH_STATE_RESET) {
      decoder.reset();
    }
    if (size > target.length - t) throw overrun(target.length);
    const range = new RangeDecoder(source, s, s + encodedSize);
    const end = decoder.decode(range, t, t + size, tooLong);
    s += encodedSize;
    t += size;
    if (end !== t || range.position !== s || !range.isFinished) {
      throw corrupt("an LZMA2 chunk does not end where it should");
    }
  }
}

function tooLong() {
  return corrupt("an LZMA2 chunk is longer than its stated size");
}

const MAX_CHUNK = 2 ** 21;
const MAX_ENCODED_CHUNK = 2 ** 16;
/** More than the bytes of one symbol. */
const SYMBOL_SIZE = 64;
/** Even with the worst compression, a chunk contains more bytes than this when its encoded form is full. */
const MIN_CHUNK = 2 ** 13;
const STORED_HEADER = 3;
const LZMA_HEADER = 5;

/** The most bytes that `size` bytes can become: incompressible data are stored. */
export function maxLzma2Size(size: number): number {
  return size + STORED_HEADER * (Math.ceil(size / MIN_CHUNK) + 1) + 1;
}

/** Bytes of the chunk under construction. */
export const CHUNK_SPACE = MAX_ENCODED_CHUNK + SYMBOL_SIZE;

/**
 * Encodes `source` as one LZMA2 stream from `start` on.
 *
 * @returns the end, which may be beyond `target`.
 */
export function encodeLzma2(
  source: Uint8Array,
  target: Uint8Array,
  start: number,
  compressor: Compressor,
): number {
  const encoder = new LzmaEncoder(source, compressor, compressor);
  const space = new Uint8Array(CHUNK_SPACE);
  let t = start;
  const put = (...bytes: number[]) => {
    for (const byte of bytes) target[t++] = byte;
  };
  const putBytes = (bytes: Uint8Array) => {
    if (bytes.length <= target.length - t) target.set(bytes, t);
    t += bytes.length;
  };
  let isFirst = true;
  let needsProperties = true;
  let needsReset = true;

  while (encoder.position < source.length) {
    const from = encoder.position;
    const range = new RangeEncoder(space, 0);
    encoder.encode(range, {
      sourceEnd: Math.min(source.length, from + MAX_CHUNK - MAX_MATCH),
      encodedEnd: MAX_ENCODED_CHUNK - SYMBOL_SIZE,
    });
    const encodedSize = range.finish();
    const size = encoder.position - from;
    if (encodedSize + LZMA_HEADER >= size + STORED_HEADER) {
      put(isFirst ? STORED_WITH_RESET : STORED, ...low16(size - 1));
      putBytes(source.subarray(from, from + size));
      encoder.reset();
      needsReset = true;
    } else {
      const kind = isFirst
        ? LZMA_WITH_DICTIONARY_RESET
        : needsProperties
          ? LZMA_WITH_PROPERTIES
          : needsReset
            ? LZMA_WITH_STATE_RESET
            : LZMA;
      put(kind | ((size - 1) >>> 16), ...low16(size - 1), ...low16(encodedSize - 1));
      if (needsProperties) put(propertiesByte(compressor));
      putBytes(space.subarray(0, encodedSize));
      needsProperties = needsReset = false;
    }
    isFirst = false;
  }
  put(END);
  return t;
}

function low16(number: number): [number, number] {
  return [(number >>> 8) & 0xff, number & 0xff];
}
