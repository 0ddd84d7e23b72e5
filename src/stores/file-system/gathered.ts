/** Bytes that are handed over at a time: each call of a stream of the browser takes as long as copying so many. */
const PIECE = 256 * 1024;

/** Takes pieces of any size, and hands them on in few. */
export class Gathered {
  readonly #handOver: (bytes: Uint8Array) => Promise<void>;
  readonly #areKept: boolean;
  #piece = new Uint8Array(PIECE);
  #used = 0;

  /** @param areKept whether what is handed over stays in use, so that each piece needs a buffer of its own */
  constructor(handOver: (bytes: Uint8Array) => Promise<void>, { areKept }: { readonly areKept: boolean }) {
    this.#handOver = handOver;
    this.#areKept = areKept;
  }

  /** Resolves when more can be taken; `bytes` are the caller's again from then on. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + PIECE - this.#used);
      this.#piece.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
      if (this.#used === PIECE) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const bytes = this.#piece.subarray(0, this.#used);
    this.#used = 0;
    if (this.#areKept) this.#piece = new Uint8Array(PIECE);
    if (bytes.length > 0) await this.#handOver(bytes);
  }
}
