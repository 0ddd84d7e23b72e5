import type { Buffers } from "../util/buffers.ts";

/** The buffers that one piece of work has taken, so that all can be given back when it fails. */
export class TakenBuffers implements Buffers {
  readonly #buffers: Buffers;
  readonly #taken = new Map<ArrayBufferLike, Uint8Array>();

  constructor(buffers: Buffers) {
    this.#buffers = buffers;
  }

  take(byteLength: number): Uint8Array {
    const bytes = this.#buffers.take(byteLength);
    this.#taken.set(bytes.buffer, bytes);
    return bytes;
  }

  give(view: Uint8Array): void {
    this.#taken.delete(view.buffer);
    this.#buffers.give(view);
  }

  has(view: Uint8Array): boolean {
    return this.#taken.has(view.buffer);
  }

  giveAll(): void {
    for (const bytes of this.#taken.values()) this.give(bytes);
  }
}
