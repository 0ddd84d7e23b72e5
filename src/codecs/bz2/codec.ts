import { ZarrflowError } from "../../util/errors.ts";
import type { CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { corrupt, overrun } from "../limits.ts";
import {
  BitReader,
  BitWriter,
  BLOCK_MAGIC,
  BLOCK_UNIT,
  blockCrc,
  END_MAGIC,
  RUN_START,
  STREAM_MAGIC,
  streamCrc,
} from "./bits.ts";
import { sortBlock } from "./block-sort.ts";
import { HuffmanTables, readBlock, TABLES_SIZE } from "./read-block.ts";
import { listSymbols, writeBlock } from "./write-block.ts";

/** Memory of the encoder per byte of a block: the block twice, column, symbols, order, and tables for sorting. */
const ENCODER_SHARE = 18;
const ENCODER_TABLES = 65_536;

/** `bz2`: bzip2 streams; reads several as one. */
export const createBz2: CodecFactory = (configuration) => {
  const settings = new ConfigReader(configuration);
  const { value: level, check } = encoderSetting(() => settings.integer("level", 1, 9, 1), 1);
  return {
    kind: "bytes-to-bytes",
    name: "bz2",
    maxEncodedSize: maxBz2Size,
    scratchSize: (decodedSize) => {
      // Data may be of any level when read.
      const decoder = 4 * Math.min(9 * BLOCK_UNIT, columnLimit(decodedSize)) + TABLES_SIZE;
      return Math.max(decoder, ENCODER_SHARE * blockCapacity(decodedSize, level) + ENCODER_TABLES);
    },
    assertEncodable: check,
    encodeInto: (source, target) => encodeBz2(source, target, level),
    decodeInto: decodeBz2,
  };
};

/**
 * Decodes all bzip2 streams of `source`, one after another, into `target`.
 *
 * @returns the bytes written.
 * @throws `corrupt-chunk` if a stream is truncated or broken, a checksum differs, other bytes follow, or `target` is
 *   too small; `codec-error` for the randomized blocks of bzip2 before 0.9.5.
 */
export function decodeBz2(source: Uint8Array, target: Uint8Array): number {
  if (source.length === 0) throw corrupt("there is no bzip2 stream", { found: 0 });
  const decoder = new Decoder(source, target);
  while (decoder.decodeStream());
  return decoder.written;
}

class Decoder {
  readonly #bits: BitReader;
  readonly #target: Uint8Array;
  readonly #tables = new HuffmanTables();
  #column = new Int32Array(0);
  written = 0;

  constructor(source: Uint8Array, target: Uint8Array) {
    this.#bits = new BitReader(source);
    this.#target = target;
  }

  /** @returns true if another stream follows. */
  decodeStream(): boolean {
    const bits = this.#bits;
    const blockSize = BLOCK_UNIT * this.#readLevel();
    let crc = 0;
    for (;;) {
      const [high, low] = [bits.read(24), bits.read(24)];
      bits.assertWhole();
      if (high === END_MAGIC[0] && low === END_MAGIC[1]) break;
      if (high !== BLOCK_MAGIC[0] || low !== BLOCK_MAGIC[1]) throw corrupt("a bzip2 block has no header");
      crc = streamCrc(crc, this.#decodeBlock(blockSize));
    }
    const stated = bits.readUint32();
    bits.assertWhole();
    if (stated !== crc)
      throw corrupt("the checksum of a bzip2 stream differs", { expected: stated, found: crc });
    bits.align();
    return bits.left > 0;
  }

  #readLevel(): number {
    const isFirst = this.#bits.position === 0;
    if (STREAM_MAGIC.some((byte) => this.#bits.read(8) !== byte)) {
      throw corrupt(isFirst ? "not bzip2 data" : "extra bytes follow the last bzip2 stream");
    }
    const level = this.#bits.read(8) - 0x30;
    if (level < 1 || level > 9) throw corrupt("the level of a bzip2 stream is not from 1 to 9");
    return level;
  }

  /** @returns the checksum of the block. */
  #decodeBlock(blockSize: number): number {
    const stated = this.#bits.readUint32();
    if (this.#bits.read(1) === 1) {
      throw new ZarrflowError("codec-error", "the block is randomized, a feature of bzip2 before 0.9.5", {
        hint: "Decode it with `bzip2 -d` and compress it again.",
      });
    }
    const origin = this.#bits.read(24);
    const limit = this.#target.length;
    const columnSize = Math.min(blockSize, columnLimit(limit - this.written));
    if (this.#column.length < columnSize) this.#column = new Int32Array(columnSize);
    const column = this.#column.subarray(0, columnSize);
    const size = readBlock(this.#bits, this.#tables, column);
    if (size > columnSize) {
      throw columnSize < blockSize ? overrun(limit) : corrupt("a bzip2 block is larger than its level");
    }
    if (origin >= size) throw corrupt("the origin of a bzip2 block is outside the block");

    const start = this.written;
    this.written = unwind(column.subarray(0, size), origin, this.#target, start);
    const crc = blockCrc(this.#target, start, this.written);
    if (crc !== stated)
      throw corrupt("the checksum of a bzip2 block differs", { expected: stated, found: crc });
    return crc;
  }
}

/** The largest block that can decode to at most `size` bytes: five bytes may represent a run of four. */
export function columnLimit(size: number): number {
  return size + Math.ceil(size / RUN_START);
}

/**
 * Reconstructs the bytes of a block from the last column of its sorted rotations and expands their runs.
 *
 * @param column becomes a linked list: the bits above each byte are the position of the next byte.
 * @returns the end of the bytes in `target`.
 */
function unwind(column: Int32Array, origin: number, target: Uint8Array, start: number): number {
  link(column);
  let t = start;
  let previous = -1;
  let run = 0;
  let place = (column[origin] as number) >>> 8;
  for (let left = column.length; left > 0; left--) {
    const entry = column[place] as number;
    const byte = entry & 0xff;
    place = entry >>> 8;
    if (run === RUN_START) {
      if (byte > target.length - t) throw overrun(target.length);
      target.fill(previous, t, t + byte);
      t += byte;
      run = 0;
      continue;
    }
    if (t === target.length) throw overrun(target.length);
    run = byte === previous && run > 0 ? run + 1 : 1;
    previous = byte;
    target[t++] = byte;
  }
  if (run === RUN_START) throw corrupt("a run of a bzip2 block is truncated");
  return t;
}

/**
 * Links each row to the row rotated by one: the n-th occurrence of a byte in the first column is its n-th occurrence in
 * the last column.
 */
function link(column: Int32Array): void {
  const places = new Int32Array(256);
  for (let i = 0; i < column.length; i++) {
    const byte = column[i] as number;
    places[byte] = (places[byte] as number) + 1;
  }
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) {
    const count = places[byte] as number;
    places[byte] = sum;
    sum += count;
  }
  for (let i = 0; i < column.length; i++) {
    const byte = (column[i] as number) & 0xff;
    const place = places[byte] as number;
    places[byte] = place + 1;
    column[place] = (column[place] as number) | (i << 8);
  }
}

/** The reference encoder leaves this many bytes of a block unused. */
const BLOCK_RESERVE = 19;

/** The most bytes that `size` bytes can become: noise grows by 1 %, and each block has tables. */
export function maxBz2Size(size: number): number {
  return size + (size >>> 5) + 2048;
}

/** Bytes of the largest block that `size` bytes can fill; runs of four become five bytes. */
export function blockCapacity(size: number, level: number): number {
  return Math.min(BLOCK_UNIT * level - BLOCK_RESERVE, size + Math.ceil(size / 4) + 5);
}

/**
 * Encodes `source` as one bzip2 stream.
 *
 * @returns the bytes written.
 * @throws `codec-error` if `target` is too small.
 */
export function encodeBz2(source: Uint8Array, target: Uint8Array, level: number): number {
  const bits = new BitWriter(target);
  const capacity = blockCapacity(source.length, level);
  const block = new Uint8Array(capacity);
  const order = new Int32Array(capacity);
  const column = new Uint8Array(capacity);
  const symbols = new Uint16Array(capacity + 1);

  for (const byte of STREAM_MAGIC) bits.write(8, byte);
  bits.write(8, 0x30 + level);
  let crc = 0;
  for (let start = 0; start < source.length; ) {
    const { size, next } = collapseRuns(source, start, block);
    const sum = blockCrc(source, start, next);
    crc = streamCrc(crc, sum);
    const last = column.subarray(0, size);
    const origin = sortBlock(block.subarray(0, size), order.subarray(0, size), last);
    for (const half of BLOCK_MAGIC) bits.write(24, half);
    bits.writeUint32(sum);
    bits.write(1, 0);
    bits.write(24, origin);
    writeBlock(bits, listSymbols(last, symbols));
    start = next;
  }
  for (const half of END_MAGIC) bits.write(24, half);
  bits.writeUint32(crc);

  const written = bits.finish();
  if (written <= target.length) return written;
  throw new ZarrflowError("codec-error", "the output buffer is too small", {
    expected: written,
    found: target.length,
  });
}

/** The most equal bytes that five bytes of a block can represent. */
const MAX_RUN = RUN_START + 251;

/**
 * Fills `block` with `source` from `start` on. A run of 4 to 255 equal bytes becomes four of them and a byte with the
 * number of the others.
 *
 * @returns the number of bytes in the block, and the start of the rest of the source.
 */
function collapseRuns(source: Uint8Array, start: number, block: Uint8Array): { size: number; next: number } {
  const limit = block.length - RUN_START - 1;
  let size = 0;
  let s = start;
  while (s < source.length && size <= limit) {
    const byte = source[s] as number;
    let run = 1;
    const most = Math.min(MAX_RUN, source.length - s);
    while (run < most && source[s + run] === byte) run++;
    s += run;
    for (let i = Math.min(run, RUN_START); i > 0; i--) block[size++] = byte;
    if (run >= RUN_START) block[size++] = run - RUN_START;
  }
  return { size, next: s };
}
