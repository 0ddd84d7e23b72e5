import { ZarrflowError } from "../../util/errors.ts";

/** Raw deflate data on their way to the value of an entry, which is taken from its start on. */
export class Inflation {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #size: number;
  #rest: Uint8Array = new Uint8Array(0);
  /** Bytes that have been inflated. */
  #inflated = 0;

  /**
   * @param pieces what is inflated; it throws when the data are broken or cut off
   * @param size bytes that the value is stated to have
   */
  constructor(pieces: AsyncIterator<Uint8Array>, size: number) {
    this.#pieces = pieces;
    this.#size = size;
  }

  /** Where in the value the next byte lies that can be taken. */
  get position(): number {
    return this.#inflated - this.#rest.length;
  }

  /** Whether all of the value has been taken. */
  get isOver(): boolean {
    return this.position === this.#size;
  }

  /**
   * Fills `into` with what lies at `offset`, which is at `position` or after it. At the end of the value it holds that no
   * more follows.
   *
   * @throws `corrupt-store` when the data are broken, or of another size than stated
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

  /** Lets the rest go. */
  async end(): Promise<void> {
    await this.#pieces.return?.();
  }

  async #skipTo(offset: number): Promise<void> {
    while (this.#inflated < offset) {
      if (!(await this.#next())) throw wrongSize(this.#size, this.#inflated);
    }
    this.#rest = this.#rest.subarray(offset - this.position);
  }

  /** Replaces the rest by the next piece. Returns whether there was one. */
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

/** A value that has another size than its entry states. */
export function wrongSize(expected: number, found: number | string): ZarrflowError {
  return new ZarrflowError("corrupt-store", "the zip entry does not have the size it states", {
    expected,
    found,
  });
}
