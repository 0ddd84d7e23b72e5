import { ZarrflowError } from "../../util/errors.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";
import type { DecoderPosition } from "./decoder.ts";
import { assertNoBranchFilter, DELTA, decodeDelta, LZMA2 } from "./filters.ts";
import { decodeLzma2 } from "./lzma.ts";
import {
  type BlockSizes,
  CRC_SIZE,
  crcOf,
  FILTER_COUNT,
  FOOTER_MAGIC,
  HAS_DECODED_SIZE,
  HAS_ENCODED_SIZE,
  HEADER_MAGIC,
  hasMagic,
  INDEX_INDICATOR,
  MAX_DICTIONARY_CODE,
  padded,
  RESERVED_FLAGS,
  type XzCheck,
  xzCheck,
} from "./xz-format.ts";

/** Bytes of the stream flags. */
const FLAGS_SIZE = 2;

/**
 * Decodes one .xz stream and the zeros after it: its blocks, which it verifies, its index and its footer.
 *
 * @throws `corrupt-chunk`; `codec-error`, `unsupported-codec` for unknown checks and filters.
 * @see the .xz file format, version 1.2
 */
export function decodeXz(
  source: Uint8Array,
  target: Uint8Array,
  { read, written }: DecoderPosition,
): DecoderPosition {
  const reader = new XzReader(source, read);
  const flags = readStreamHeader(reader, read === 0);
  const check = xzCheck(flags);
  const blocks: BlockSizes[] = [];
  let t = written;
  while (reader.source[reader.position] !== INDEX_INDICATOR) {
    const sizes = decodeBlock(reader, target, t, check);
    blocks.push(sizes);
    t += sizes.decoded;
  }
  const indexSize = readIndex(reader, blocks);
  readFooter(reader, flags, indexSize);
  while (reader.position < source.length && source[reader.position] === 0) reader.zeros(4);
  return { read: reader.position, written: t };
}

/** @returns the number of the check. */
function readStreamHeader(reader: XzReader, isFirst: boolean): number {
  const start = reader.take(HEADER_MAGIC.length);
  if (!hasMagic(reader.source, start, HEADER_MAGIC)) {
    throw corrupt(isFirst ? "not xz data" : "extra bytes follow the last xz stream");
  }
  reader.assertCrc(reader.position, reader.position + FLAGS_SIZE);
  const flags = readStreamFlags(reader);
  reader.take(CRC_SIZE);
  return flags;
}

function readStreamFlags(reader: XzReader): number {
  const reserved = reader.byte();
  const flags = reader.byte();
  if (reserved === 0 && flags < 16) return flags;
  throw unknown("the type of an xz stream", flags);
}

interface BlockHeader {
  readonly encodedSize: number | undefined;
  readonly decodedSize: number | undefined;
  readonly deltas: readonly number[];
}

function decodeBlock(reader: XzReader, target: Uint8Array, written: number, check: XzCheck): BlockSizes {
  const start = reader.position;
  const { encodedSize, decodedSize, deltas } = readBlockHeader(reader);
  const dataStart = reader.position;
  const { read, written: end } = decodeLzma2(reader.source, target, { read: dataStart, written });
  reader.position = read;
  const decoded = end - written;
  assertSize("encoded size of an xz block", encodedSize, read - dataStart);
  assertSize("decoded size of an xz block", decodedSize, decoded);
  reader.padding(dataStart);

  const bytes = target.subarray(written, end);
  for (const distance of deltas.toReversed()) decodeDelta(bytes, distance);
  const stated = reader.take(check.size);
  const sum = check.of(bytes);
  if (sum.some((byte, i) => reader.source[stated + i] !== byte)) {
    throw corrupt(`the ${check.name} of an xz block differs`);
  }
  return { unpadded: read - start + check.size, decoded };
}

function readBlockHeader(reader: XzReader): BlockHeader {
  const start = reader.position;
  const end = start + 4 * reader.byte();
  reader.assertCrc(start, end);
  const flags = reader.byte();
  if (flags & RESERVED_FLAGS) throw unknown("the type of an xz block", flags);
  const encodedSize = flags & HAS_ENCODED_SIZE ? reader.number() : undefined;
  const decodedSize = flags & HAS_DECODED_SIZE ? reader.number() : undefined;
  const deltas: number[] = [];
  for (let left = flags & FILTER_COUNT; left >= 0; left--) {
    const delta = readFilter(reader, left === 0);
    if (delta !== undefined) deltas.push(delta);
  }
  if (reader.position > end) throw corrupt("the header of an xz block is longer than its stated size");
  reader.zeros(end - reader.position);
  reader.take(CRC_SIZE);
  return { encodedSize, decodedSize, deltas };
}

/**
 * Reads a delta filter, or LZMA2 as the last filter.
 *
 * @returns the distance of a delta filter, undefined for LZMA2.
 */
function readFilter(reader: XzReader, isLast: boolean): number | undefined {
  const id = reader.number();
  const size = reader.number();
  const properties = reader.take(size);
  const first = reader.source[properties] ?? 0;
  if (id === DELTA && size === 1 && !isLast) return first + 1;
  if (id === LZMA2 && size === 1 && isLast && first <= MAX_DICTIONARY_CODE) return undefined;
  assertNoBranchFilter(id);
  throw unknown("a filter of an xz block", id);
}

/** @returns the bytes of the index. */
function readIndex(reader: XzReader, blocks: readonly BlockSizes[]): number {
  const start = reader.take(1);
  assertSize("number of blocks in an xz index", reader.number(), blocks.length);
  for (const { unpadded, decoded } of blocks) {
    assertSize("encoded size in an xz index", reader.number(), unpadded);
    assertSize("decoded size in an xz index", reader.number(), decoded);
  }
  reader.padding(start);
  reader.assertCrc(start, reader.position);
  reader.take(CRC_SIZE);
  return reader.position - start;
}

function readFooter(reader: XzReader, flags: number, indexSize: number): void {
  const stated = reader.uint32();
  const start = reader.position;
  assertSize("index size in an xz footer", (reader.uint32() + 1) * 4, indexSize);
  const hasSameFlags = readStreamFlags(reader) === flags;
  const found = crcOf(reader.source, start, reader.position);
  if (stated !== found) throw corrupt("the checksum of an xz footer differs", { expected: stated, found });
  const magic = reader.take(FOOTER_MAGIC.length);
  if (hasSameFlags && hasMagic(reader.source, magic, FOOTER_MAGIC)) return;
  throw corrupt("the footer of an xz stream is missing or belongs to another stream");
}

function unknown(what: string, found: number): ZarrflowError {
  return new ZarrflowError("codec-error", `${what} is not known`, { found });
}

function assertSize(what: string, stated: number | undefined, found: number): void {
  if (stated === undefined || stated === found) return;
  throw corrupt(`the ${what} differs`, { expected: stated, found });
}

/** Bytes of a 63-bit number, with seven bits per byte. */
const MAX_NUMBER_BYTES = 9;

/** Reads the headers of an xz stream in order; throws if the stream is truncated. */
export class XzReader {
  readonly source: Uint8Array;
  readonly #words: DataView;
  position: number;

  constructor(source: Uint8Array, position: number) {
    this.source = source;
    this.#words = wordView(source);
    this.position = position;
  }

  /**
   * Takes `size` bytes.
   *
   * @returns their start.
   */
  take(size: number): number {
    if (size > this.source.length - this.position) throw corrupt("the xz stream is truncated");
    const start = this.position;
    this.position += size;
    return start;
  }

  byte(): number {
    return this.#words.getUint8(this.take(1));
  }

  uint32(): number {
    return this.#words.getUint32(this.take(4), true);
  }

  /** Reads a number in groups of seven bits, the lowest first. Not exact above 2^53, which no size here reaches. */
  number(): number {
    let number = 0;
    for (let i = 0; i < MAX_NUMBER_BYTES; i++) {
      const byte = this.byte();
      if (byte === 0 && i > 0) break;
      number += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return number;
    }
    throw corrupt("a number in the xz stream is not in its shortest form");
  }

  /** Takes the zeros that pad the data since `start` to a whole word. */
  padding(start: number): void {
    this.zeros(padded(this.position - start) - (this.position - start));
  }

  zeros(size: number): void {
    const start = this.take(size);
    for (let i = start; i < this.position; i++) {
      if (this.source[i] !== 0) throw corrupt("the padding of an xz stream is not zero");
    }
  }

  /** Compares the CRC-32 at `end` with the bytes from `start` to there; takes none of them. */
  assertCrc(start: number, end: number): void {
    if (end + CRC_SIZE > this.source.length) throw corrupt("the xz stream is truncated");
    const stated = this.#words.getUint32(end, true);
    const found = crcOf(this.source, start, end);
    if (stated !== found) {
      throw corrupt("the checksum of an xz header differs", { expected: stated, found });
    }
  }
}
