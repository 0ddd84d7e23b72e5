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
