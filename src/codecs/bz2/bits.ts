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
