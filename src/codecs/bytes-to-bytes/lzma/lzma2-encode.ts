import type { Compressor } from "./filters.ts";
import { LzmaEncoder } from "./lzma-encoder.ts";
import {
  END,
  LZMA,
  LZMA_WITH_DICTIONARY_RESET,
  LZMA_WITH_PROPERTIES,
  LZMA_WITH_STATE_RESET,
  STORED,
  STORED_WITH_RESET,
} from "./lzma2.ts";
import { MAX_MATCH, propertiesByte } from "./model.ts";
import { RangeEncoder } from "./range-encoder.ts";

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
