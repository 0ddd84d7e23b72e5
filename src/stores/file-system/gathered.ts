/** Bytes that are passed on at a time: each call to a stream of the browser takes as long as copying this many. */
const PIECE = 256 * 1024;

/** Collects pieces of any size and passes them on in larger ones. */
export class Gathered {
  readonly #handOver: (bytes: Uint8Array) => Promise<void>;
  readonly #areKept: boolean;
  #piece = new Uint8Array(PIECE);
  #used = 0;

  /** @param areKept true if the receiver keeps the bytes, so that each piece needs its own buffer */
  constructor(handOver: (bytes: Uint8Array) => Promise<void>, { areKept }: { readonly areKept: boolean }) {
    this.#handOver = handOver;
    this.#areKept = areKept;
  }

  /** Resolves when more can be taken; the caller may then reuse `bytes`. */
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
