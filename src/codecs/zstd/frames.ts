import { ZarrflowError } from "../../util/errors.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";

/** One zstd frame in a value. */
export interface ZstdFrame {
  readonly start: number;
  readonly end: number;
  /** The decoded size that the frame states. */
  readonly contentSize: number | undefined;
  /** The most bytes that its blocks can decode to. */
  readonly maxSize: number;
}

const MAGIC = 0xfd2f_b528;
/** Frames of zstd 0.1 to 0.7, and the sixteen kinds of skippable frames. */
const OLD_MAGIC = { first: 0xfd2f_b522, last: 0xfd2f_b527 };
const SKIPPABLE_MAGIC = { first: 0x184d_2a50, last: 0x184d_2a5f };
const MAX_WINDOW = 2 ** 31;
const MAX_BLOCK = 128 * 1024;

/**
 * Finds the data frames of `source` by their headers and block headers; leaves skippable frames out.
 *
 * @throws `corrupt-chunk` if a frame is truncated or invalid; `codec-error` if it has an old format or needs a
 *   dictionary; `resource-limit` if its window is above 2 GiB.
 * @see RFC 8878
 */
export function zstdFrames(source: Uint8Array): ZstdFrame[] {
  const frames: ZstdFrame[] = [];
  const words = wordView(source);
  let start = 0;
  while (start < source.length) {
    need(source, start, 4);
    const magic = words.getUint32(start, true);
    if (magic >= SKIPPABLE_MAGIC.first && magic <= SKIPPABLE_MAGIC.last) {
      need(source, start, 8);
      const size = words.getUint32(start + 4, true);
      need(source, start + 8, size);
      start += 8 + size;
      continue;
    }
    if (magic >= OLD_MAGIC.first && magic <= OLD_MAGIC.last) {
      throw new ZarrflowError("codec-error", "the frame was written by zstd 0.7 or older");
    }
    if (magic !== MAGIC)
      throw corrupt(start === 0 ? "not zstd data" : "extra bytes follow the last zstd frame");
    const frame = readFrame(source, words, start);
    frames.push(frame);
    start = frame.end;
  }
  if (source.length === 0) throw corrupt("there is no zstd frame", { found: 0 });
  return frames;
}

function readFrame(source: Uint8Array, words: DataView, start: number): ZstdFrame {
  let i = start + 4;
  need(source, i, 1);
  const descriptor = words.getUint8(i++);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const hasChecksum = (descriptor & 0x04) !== 0;
  if ((descriptor & 0x08) !== 0) throw corrupt("a reserved bit of the zstd frame is set");

  let windowSize = 0;
  if (!isSingleSegment) {
    need(source, i, 1);
    const window = words.getUint8(i++);
    windowSize = 2 ** (10 + (window >>> 3)) * (1 + (window & 7) / 8);
  }
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] ?? 0;
  need(source, i, dictionaryBytes);
  for (const end = i + dictionaryBytes; i < end; i++) {
    if (words.getUint8(i) !== 0)
      throw new ZarrflowError("codec-error", "the zstd frame requires a dictionary");
  }
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  need(source, i, sizeBytes);
  const contentSize = readContentSize(words, i, sizeBytes);
  i += sizeBytes;
  if (isSingleSegment) windowSize = contentSize ?? 0;
  if (windowSize > MAX_WINDOW) {
    throw new ZarrflowError("resource-limit", "the zstd frame requires too large a window", {
      expected: MAX_WINDOW,
      found: windowSize,
    });
  }

  let maxSize = 0;
  for (let isLast = false; !isLast; ) {
    need(source, i, 3);
    const header = words.getUint16(i, true) | (words.getUint8(i + 2) << 16);
    i += 3;
    isLast = (header & 1) === 1;
    const kind = (header >>> 1) & 3;
    const size = header >>> 3;
    if (kind === BLOCK.reserved) throw corrupt("a block of the zstd frame has a reserved type");
    maxSize += kind === BLOCK.compressed ? Math.min(MAX_BLOCK, Math.max(windowSize, 1024)) : size;
    const stored = kind === BLOCK.run ? 1 : size;
    need(source, i, stored);
    i += stored;
  }
  if (hasChecksum) {
    need(source, i, 4);
    i += 4;
  }
  return { start, end: i, contentSize, maxSize };
}

const BLOCK = { raw: 0, run: 1, compressed: 2, reserved: 3 } as const;

function readContentSize(words: DataView, start: number, bytes: number): number | undefined {
  switch (bytes) {
    case 0:
      return undefined;
    case 1:
      return words.getUint8(start);
    case 2:
      return words.getUint16(start, true) + 256;
    case 4:
      return words.getUint32(start, true);
    default:
      return words.getUint32(start, true) + words.getUint32(start + 4, true) * 2 ** 32;
  }
}

/** @throws `corrupt-chunk` unless `length` bytes follow `start`. */
function need(source: Uint8Array, start: number, length: number): void {
  if (start + length <= source.length) return;
  throw corrupt("the zstd frame is truncated", { expected: start + length, found: source.length });
}

/** An implementation of zstd decoding. */
export interface ZstdDecoder {
  /**
   * Decodes one whole frame into `target`, which bounds it.
   *
   * @returns the bytes written; -1 if the frame is broken or decodes to more than `target` holds.
   */
  decodeFrame(frame: Uint8Array, target: Uint8Array): number;
}

/** An implementation of zstd encoding. */
export interface ZstdEncoder {
  /**
   * Encodes all of `source` as one frame.
   *
   * @returns the bytes written, or 0 if `target` is too small.
   */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}

/** A library that does both. */
export type ZstdLibrary = ZstdDecoder & ZstdEncoder;

/** Levels of the zstd library; 0 selects its default. */
export const ZSTD_LEVELS = { least: -131_072, most: 22, usual: 3 } as const;
