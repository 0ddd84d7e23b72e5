/** Bytes on either side of a view that are checked after every frame. */
const GUARD = 64;
/** Views begin at any of these distances from a multiple of 8. */
const SHIFTS = 8;

/** A buffer amid bytes that nobody may touch. */
export class Arena {
  readonly #bytes: Uint8Array;
  readonly #poison: Uint8Array;
  #start = 0;
  #length = 0;

  constructor(maxLength: number, poison: number) {
    this.#bytes = new Uint8Array(maxLength + 2 * GUARD + SHIFTS).fill(poison);
    this.#poison = new Uint8Array(maxLength + GUARD).fill(poison);
  }

  /** A view of `length` bytes of poison, `shift` bytes from a multiple of 8; that of the call before is gone. */
  place(length: number, shift: number): Uint8Array {
    this.#bytes.set(this.#poison.subarray(0, this.#length), this.#start);
    this.#start = GUARD + (shift % SHIFTS);
    this.#length = length;
    return this.view;
  }

  /** The view of the last call. */
  get view(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#start + this.#length);
  }

  /** Whether the bytes on both sides of the view are as they were. */
  isIntact(): boolean {
    const end = this.#start + this.#length;
    return this.#isPoison(this.#start - GUARD, this.#start) && this.#isPoison(end, end + GUARD);
  }

  #isPoison(start: number, end: number): boolean {
    return Buffer.compare(this.#bytes.subarray(start, end), this.#poison.subarray(0, end - start)) === 0;
  }
}
