import { corrupt } from "../../failures.ts";
import { wordsOf } from "../../kernels/words.ts";
import { CRC_SIZE, crcOf, padded } from "./xz-format.ts";

/** Bytes of a number of 63 bits, seven bits a byte. */
const MAX_NUMBER_BYTES = 9;

/** Reads the headers of an xz stream, forward; what is cut is corrupt. */
export class XzReader {
  readonly source: Uint8Array;
  readonly #words: DataView;
  position: number;

  constructor(source: Uint8Array, position: number) {
    this.source = source;
    this.#words = wordsOf(source);
    this.position = position;
  }

  /** Takes `size` bytes. @returns where they begin. */
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

  /** A number in groups of seven bits, the lowest first. Above 2^53 it is not exact, and no size of ours. */
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

  /** Takes the zeros that fill the word of what began at `start`. */
  padding(start: number): void {
    this.zeros(padded(this.position - start) - (this.position - start));
  }

  zeros(size: number): void {
    const start = this.take(size);
    for (let i = start; i < this.position; i++) {
      if (this.source[i] !== 0) throw corrupt("the padding of an xz stream is not zero");
    }
  }

  /** Holds the CRC-32 that stands at `end` against the bytes from `start` on; takes none of them. */
  assertCrc(start: number, end: number): void {
    if (end + CRC_SIZE > this.source.length) throw corrupt("the xz stream is truncated");
    const stated = this.#words.getUint32(end, true);
    const found = crcOf(this.source, start, end);
    if (stated !== found) {
      throw corrupt("the checksum of an xz header differs", { expected: stated, found });
    }
  }
}
