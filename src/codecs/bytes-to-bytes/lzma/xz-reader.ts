import { corrupt } from "../../failures.ts";
import { wordsOf } from "../../kernels/words.ts";
import { CRC_SIZE, crcOf, padded } from "./xz-format.ts";

/** Bytes of a 63-bit number, with seven bits per byte. */
const MAX_NUMBER_BYTES = 9;

/** Reads the headers of an xz stream in order; throws if the stream is truncated. */
export class XzReader {
  readonly source: Uint8Array;
  readonly #words: DataView;
  position: number;

  constructor(source: Uint8Array, position: number) {
    this.source = source;
    this.#words = wordsOf(source);
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
