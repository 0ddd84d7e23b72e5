import { ZarrflowError } from "../../util/errors.ts";

/** Inflates the value of an entry from its start on. */
export class Inflation {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #size: number;
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes inflated so far. */
  #inflated = 0;

  /**
   * @param pieces the inflated data; it throws if the data are broken or truncated
   * @param size stated size of the value in bytes
   */
  constructor(pieces: AsyncIterator<Uint8Array>, size: number) {
    this.#pieces = pieces;
    this.#size = size;
  }

  /** Offset in the value of the next byte to take. */
  get position(): number {
    return this.#inflated - this.#rest.length;
  }

  get isOver(): boolean {
    return this.position === this.#size;
  }

  /**
   * Fills `into` with the bytes at `offset`, which is `position` or later. At the end of the value, checks that no
   * more bytes follow.
   *
   * @throws `corrupt-store` if the data are broken, or not of the stated size
   */
  async fill(offset: number, into: Uint8Array): Promise<void> {
    await this.#skipTo(offset);
    let filled = 0;
    while (filled < into.length) {
      if (this.#rest.length === 0 && !(await this.#next())) throw wrongSize(this.#size, this.#inflated);
      const piece = this.#rest.subarray(0, into.length - filled);
      into.set(piece, filled);
      filled += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
    if (this.position < this.#size) return;
    while (await this.#next());
  }

  /** Releases the rest. */
  async end(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #skipTo(offset: number): Promise<void> {
    while (this.#inflated < offset) {
      if (!(await this.#next())) throw wrongSize(this.#size, this.#inflated);
    }
    this.#rest = this.#rest.subarray(offset - this.position);
  }

  /** Replaces the rest by the next piece. Returns false at the end. */
  async #next(): Promise<boolean> {
    const { done, value } = await this.#pieces.next().catch((error) => {
      if (error instanceof ZarrflowError) throw error;
      throw new ZarrflowError("corrupt-store", "the zip entry cannot be inflated", {}, { cause: error });
    });
    if (done) return false;
    this.#rest = value;
    this.#inflated += value.length;
    if (this.#inflated > this.#size) throw wrongSize(this.#size, this.#inflated);
    return true;
  }
}

/** Makes the error for a value of another size than its entry states. */
export function wrongSize(expected: number, found: number | string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the zip entry does not have the size it states", {
    expected,
    found,
  });
}
