import type { Buffers } from "../util/buffers.ts";
import { pooledSize } from "./pooled-size.ts";

/** Where a pool's buffers come from, if not from the garbage collector. */
export interface BufferSource {
  /** The one buffer that all it gives away are views of. */
  readonly memory: ArrayBufferLike;
  /** @returns undefined where it has no room. */
  allocate(byteLength: number): Uint8Array | undefined;
  /** Where the buffer begins that `view` shows a part of. */
  beginOf(view: Uint8Array): number;
  release(buffer: Uint8Array): void;
}

export interface BufferPoolOptions {
  /** Called with the bytes that are taken, and, below 0, with those that are given back. */
  readonly onChange?: ((bytes: number) => void) | undefined;
  readonly source?: BufferSource | undefined;
}

/** What a buffer is known by: itself, or where it begins in the source's memory. */
type Place = ArrayBufferLike | number;

/**
 * Buffers that are reused instead of left to the garbage collector, so that a process's peak follows its leases.
 * Sizes are rounded up to a quarter of a power of two; the spare pages are never touched.
 */
export class BufferPool implements Buffers {
  /** Bytes that free and taken buffers may hold together; beyond it free ones are let go. */
  readonly limit: number;
  readonly #free = new Map<number, Uint8Array[]>();
  /** With their sizes: one that was transferred to a thread no longer knows its own. */
  readonly #taken = new Map<Place, { readonly buffer: Uint8Array; readonly size: number }>();
  readonly #onChange: (bytes: number) => void;
  readonly #source: BufferSource | undefined;
  #freeBytes = 0;
  #takenBytes = 0;
  #peak = 0;

  constructor(limit: number, { onChange = () => {}, source }: BufferPoolOptions = {}) {
    this.limit = limit;
    this.#onChange = onChange;
    this.#source = source;
  }

  /** Bytes in buffers taken now. */
  get taken(): number {
    return this.#takenBytes;
  }

  /** The most bytes ever taken at one time. */
  get peak(): number {
    return this.#peak;
  }

  take(byteLength: number): Uint8Array {
    const size = pooledSize(byteLength);
    const buffer = this.#reuse(size) ?? this.#allocate(size);
    this.#taken.set(this.#placeOf(buffer), { buffer, size });
    this.#count(size);
    return buffer.subarray(0, byteLength);
  }

  give(view: Uint8Array): void {
    const place = this.#placeOf(view);
    const taken = this.#taken.get(place);
    if (taken === undefined) return;
    const { buffer, size } = taken;
    this.#taken.delete(place);
    this.#count(-size);
    if (buffer.length < size) return;
    if (this.#takenBytes + this.#freeBytes + size > this.limit) this.#letGo(buffer);
    else this.#keep(buffer);
  }

  /** Takes back the buffer of a view that was transferred to another thread, which has sent it here again. */
  returned(view: Uint8Array, sent: ArrayBuffer): void {
    const place = this.#placeOf(view);
    const taken = this.#taken.get(place);
    if (taken && sent.byteLength === taken.size)
      this.#taken.set(place, { ...taken, buffer: new Uint8Array(sent) });
  }

  /** Lets all free buffers go. */
  clear(): void {
    for (const buffers of this.#free.values()) for (const buffer of buffers) this.#letGo(buffer);
    this.#free.clear();
    this.#freeBytes = 0;
  }

  #count(bytes: number): void {
    this.#takenBytes += bytes;
    this.#peak = Math.max(this.#peak, this.#takenBytes);
    this.#onChange(bytes);
  }

  #placeOf(view: Uint8Array): Place {
    return view.buffer === this.#source?.memory ? this.#source.beginOf(view) : view.buffer;
  }

  #keep(buffer: Uint8Array): void {
    const free = this.#free.get(buffer.length);
    if (free) free.push(buffer);
    else this.#free.set(buffer.length, [buffer]);
    this.#freeBytes += buffer.length;
  }

  #reuse(size: number): Uint8Array | undefined {
    const buffer = this.#free.get(size)?.pop();
    if (buffer) this.#freeBytes -= size;
    return buffer;
  }

  #allocate(size: number): Uint8Array {
    const most = this.#mostHeld(size);
    for (const [freeSize, buffers] of this.#free) {
      while (this.#takenBytes + this.#freeBytes + size > most) {
        const buffer = buffers.pop();
        if (buffer === undefined) break;
        this.#freeBytes -= freeSize;
        this.#letGo(buffer);
      }
    }
    return this.#source?.allocate(size) ?? new Uint8Array(size);
  }

  /**
   * Bytes that free and taken buffers may hold together when one of `size` is taken. A source takes buffers back for
   * any size, so that no more is ever held of it than was taken at one time; what is left to the garbage collector
   * stays for long, and is better kept.
   */
  #mostHeld(size: number): number {
    return this.#source ? Math.min(this.limit, Math.max(this.#peak, this.#takenBytes + size)) : this.limit;
  }

  #letGo(buffer: Uint8Array): void {
    if (buffer.buffer === this.#source?.memory) this.#source.release(buffer);
  }
}
