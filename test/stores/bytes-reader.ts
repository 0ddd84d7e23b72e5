import type { RangeReader } from "../../src/util/byte-range.ts";

/** An archive in memory that counts its reads; like a server, it fills no buffers of others. */
export class BytesReader implements RangeReader {
  readonly remote = true;
  readonly reads: { readonly offset: number; readonly length: number }[] = [];
  isClosed = false;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#bytes.length;
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    if (offset < 0 || offset + length > this.size)
      throw new RangeError(`${offset}+${length} of ${this.size}`);
    this.reads.push({ offset, length });
    return new Uint8Array(this.#bytes.subarray(offset, offset + length));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
