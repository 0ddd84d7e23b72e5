const BLOCK_BYTES = 64 * 1024;

/** Bytes that grow at the end, in blocks, so that none is copied when there are more. */
export class ByteLog {
  readonly #blocks: Uint8Array[] = [];
  /** Bytes used of the last block. */
  #used = BLOCK_BYTES;

  append(bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#used === BLOCK_BYTES) {
        this.#blocks.push(new Uint8Array(BLOCK_BYTES));
        this.#used = 0;
      }
      const part = rest.subarray(0, BLOCK_BYTES - this.#used);
      this.#blocks.at(-1)?.set(part, this.#used);
      this.#used += part.length;
      rest = rest.subarray(part.length);
    }
  }

  /** All bytes, in order. */
  *blocks(): Generator<Uint8Array> {
    yield* this.#blocks.slice(0, -1);
    const last = this.#blocks.at(-1);
    if (last !== undefined) yield last.subarray(0, this.#used);
  }
}
