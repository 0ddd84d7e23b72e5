import type { Buffers } from "../util/buffers.ts";

/** Tracks the buffers that one piece of work has taken, so that all can be given back if it fails. */
export class BufferScope implements Buffers {
  readonly #buffers: Buffers;
  readonly #taken: Uint8Array[] = [];

  constructor(buffers: Buffers) {
    this.#buffers = buffers;
  }

  take(byteLength: number): Uint8Array {
    const bytes = this.#buffers.take(byteLength);
    this.#taken.push(bytes);
    return bytes;
  }

  give(view: Uint8Array): void {
    const place = this.#placeOf(view);
    if (place >= 0) this.#taken.splice(place, 1);
    this.#buffers.give(view);
  }

  has(view: Uint8Array): boolean {
    return this.#placeOf(view) >= 0;
  }

  giveAll(): void {
    for (const bytes of this.#taken.splice(0)) this.#buffers.give(bytes);
  }

  /** Finds a taken buffer by memory and offset: several buffers may be views of one memory. */
  #placeOf({ buffer, byteOffset, byteLength }: Uint8Array): number {
    return this.#taken.findIndex((taken) => {
      const end = taken.byteOffset + taken.byteLength;
      return taken.buffer === buffer && taken.byteOffset <= byteOffset && byteOffset + byteLength <= end;
    });
  }
}
