import { corrupt } from "../limits.ts";

/** Reads bits, the highest of each byte first. Reads zeros beyond the end of the source; `assertWhole` reports it. */
export class BitReader {
  readonly source: Uint8Array;
  /** Position of the next byte to take. */
  position: number;
  /** Bytes already taken; their lowest `count` bits have not been read yet. */
  held = 0;
  count = 0;

  constructor(source: Uint8Array, position = 0) {
    this.source = source;
    this.position = position;
  }

  /** Reads `size` bits as a number; `size` is at most 24. */
  read(size: number): number {
    while (this.count < size) {
      const byte = this.position < this.source.length ? (this.source[this.position] as number) : 0;
      this.held = (this.held << 8) | byte;
      this.position++;
      this.count += 8;
    }
    this.count -= size;
    return (this.held >>> this.count) & ((1 << size) - 1);
  }

  readUint32(): number {
    const high = this.read(16);
    return ((high << 16) | this.read(16)) >>> 0;
  }

  /** Skips to the next whole byte. */
  align(): void {
    this.count -= this.count % 8;
  }

  /** Whole bytes that have not been read yet. */
  get left(): number {
    return this.source.length - this.position + Math.floor(this.count / 8);
  }

  /** @throws `corrupt-chunk` if bits beyond the end have been read. */
  assertWhole(): void {
    if (this.left < 0) throw corrupt("the bzip2 stream is truncated");
  }
}

/** Writes bits, the highest of each byte first. Counts bytes that do not fit in the target, but drops them. */
export class BitWriter {
  readonly #target: Uint8Array;
  #position = 0;
  #held = 0;
  #count = 0;

  constructor(target: Uint8Array) {
    this.#target = target;
  }

  /** Writes `value`, which has at most `size` bits; `size` is at most 24. */
  write(size: number, value: number): void {
    this.#held = (this.#held << size) | value;
    this.#count += size;
    while (this.#count >= 8) {
      this.#count -= 8;
      this.#target[this.#position++] = this.#held >>> this.#count;
    }
  }

  writeUint32(value: number): void {
    this.write(16, value >>> 16);
    this.write(16, value & 0xffff);
  }

  /**
   * Pads the last byte with zeros.
   *
   * @returns the bytes written, which may be more than the target holds.
   */
  finish(): number {
    if (this.#count > 0) this.write(8 - this.#count, 0);
    return this.#position;
  }
}

/** The parts of the bzip2 format that both directions use. Numbers are stored as bits, the highest first. */

/** `BZh`; the level follows as a digit. */
export const STREAM_MAGIC = [0x42, 0x5a, 0x68] as const;
/** The two halves of the start of a block, the digits of pi. */
export const BLOCK_MAGIC = [0x314159, 0x265359] as const;
/** The two halves of the end of a stream, the digits of the square root of pi. */
export const END_MAGIC = [0x177245, 0x385090] as const;

/** Bytes of a block at level 1; a block at level n has n times as many. */
export const BLOCK_UNIT = 100_000;

/** After a run of four equal bytes, one byte counts how many more follow. */
export const RUN_START = 4;

/** Symbols that count zeros of the move-to-front list, as digits 1 and 2 of a number in base two. */
export const RUN_A = 0;
export const RUN_B = 1;

export const MAX_TABLES = 6;
/** Symbols that share a Huffman table. */
export const GROUP_SIZE = 50;
/** Two run symbols, 255 positions in the list (all but the first), and the end of the block. */
export const MAX_ALPHABET = 258;
/** The longest code that decoders accept. */
export const MAX_CODE_LENGTH = 20;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? 0x04c11db7 : 0);
  return crc;
});

/** bzip2's CRC-32 of `bytes[start, end)`: the polynomial of zip, but the highest bit first. */
export function blockCrc(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  for (let i = start; i < end; i++) {
    crc = (crc << 8) ^ (table[(crc >>> 24) ^ (bytes[i] as number)] as number);
  }
  return ~crc >>> 0;
}

/** The CRC of a stream after one more block. */
export function streamCrc(before: number, block: number): number {
  return (((before << 1) | (before >>> 31)) ^ block) >>> 0;
}
