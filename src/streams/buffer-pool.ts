import type { Buffers } from "../util/bytes.ts";

/** Memory that a pool takes its buffers from, in place of the garbage collector. */
export interface BufferSource {
  /** The one buffer that all allocated buffers are views of. */
  readonly memory: ArrayBufferLike;
  /** @returns undefined if there is no room. */
  allocate(byteLength: number): Uint8Array | undefined;
  /** Start of the allocated buffer that `view` belongs to. */
  beginOf(view: Uint8Array): number;
  release(buffer: Uint8Array): void;
}

export interface BufferPoolOptions {
  /** Called with the change in taken bytes: positive when a buffer is taken, negative when it is given back. */
  readonly onChange?: ((bytes: number) => void) | undefined;
  readonly source?: BufferSource | undefined;
}

/** Identifies a buffer: its `ArrayBuffer`, or its start in the memory of the source. */
type Place = ArrayBufferLike | number;

/**
 * Reuses buffers instead of leaving them to the garbage collector, so that the memory of a process follows its leases.
 * Sizes are rounded up to a quarter of a power of two; the pages of the excess are never touched.
 */
export class BufferPool implements Buffers {
  /** Limit of free and taken bytes together; buffers given back beyond it are not kept. */
  readonly limit: number;
  readonly #free = new Map<number, Uint8Array[]>();
  /** Taken buffers with their sizes: a buffer that was transferred to a thread no longer knows its own size. */
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

  /** Bytes of the buffers taken now. */
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

  /** Puts back the buffer of a view that was transferred to another thread and sent back. */
  returned(view: Uint8Array, sent: ArrayBuffer): void {
    const place = this.#placeOf(view);
    const taken = this.#taken.get(place);
    if (taken && sent.byteLength === taken.size)
      this.#taken.set(place, { ...taken, buffer: new Uint8Array(sent) });
  }

  /** Drops all free buffers. */
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
   * Limit of free and taken bytes together while a buffer of `size` is taken. A source can reuse released memory for
   * any size, so it never has to hold more than the peak. Memory left to the garbage collector stays in use for long,
   * so such buffers are better kept.
   */
  #mostHeld(size: number): number {
    return this.#source ? Math.min(this.limit, Math.max(this.#peak, this.#takenBytes + size)) : this.limit;
  }

  #letGo(buffer: Uint8Array): void {
    if (buffer.buffer === this.#source?.memory) this.#source.release(buffer);
  }
}

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

/** Bytes that a pool uses for a buffer: at least 4 KiB, rounded up to 4, 5, 6 or 7 times a power of two. */
export function pooledSize(byteLength: number): number {
  if (byteLength <= SMALLEST_CLASS) return SMALLEST_CLASS;
  const quarter = 2 ** (Math.ceil(Math.log2(byteLength)) - 3);
  return Math.ceil(byteLength / quarter) * quarter;
}

/** Size of the largest buffer that uses at most `bytes` of a pool; 0 if no buffer fits. */
export function largestPooled(bytes: number): number {
  if (bytes < SMALLEST_CLASS) return 0;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  return Math.floor(bytes / quarter) * quarter;
}

/**
 * The most bytes of a pool that `parts` buffers for `byteLength` bytes in total can take, however these are divided.
 */
export function pooledParts(byteLength: number, parts: number): number {
  return byteLength === 0 ? 0 : Math.ceil(1.25 * byteLength) + parts * SMALLEST_CLASS;
}

export const SMALLEST_CLASS = 4096;
