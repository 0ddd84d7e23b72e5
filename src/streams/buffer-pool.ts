import type { Buffers } from "../util/buffers.ts";

const SMALLEST_CLASS = 4096;

/**
 * Buffers that are reused instead of left to the garbage collector, so that a process's peak follows its leases.
 * Sizes are rounded up to a quarter of a power of two; the spare pages are never touched.
 */
export class BufferPool implements Buffers {
  /** Bytes that free and taken buffers may hold together; beyond it free ones are let go. */
  readonly limit: number;
  readonly #free = new Map<number, ArrayBuffer[]>();
  /** Sizes by buffer: one that was transferred to a thread no longer knows its own. */
  readonly #taken = new Map<ArrayBufferLike, number>();
  #freeBytes = 0;
  #takenBytes = 0;
  #peak = 0;

  constructor(limit: number) {
    this.limit = limit;
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
    this.#taken.set(buffer, size);
    this.#takenBytes += size;
    this.#peak = Math.max(this.#peak, this.#takenBytes);
    return new Uint8Array(buffer, 0, byteLength);
  }

  give(view: Uint8Array): void {
    const { buffer } = view;
    const size = this.#taken.get(buffer);
    if (size === undefined) return;
    this.#taken.delete(buffer);
    this.#takenBytes -= size;
    const transferred = buffer.byteLength !== size;
    if (transferred || this.#takenBytes + this.#freeBytes + size > this.limit) return;
    const free = this.#free.get(size);
    if (free) free.push(buffer as ArrayBuffer);
    else this.#free.set(size, [buffer as ArrayBuffer]);
    this.#freeBytes += size;
  }

  #reuse(size: number): ArrayBuffer | undefined {
    const buffer = this.#free.get(size)?.pop();
    if (buffer) this.#freeBytes -= size;
    return buffer;
  }

  #allocate(size: number): ArrayBuffer {
    for (const [freeSize, buffers] of this.#free) {
      while (this.#takenBytes + this.#freeBytes + size > this.limit && buffers.pop())
        this.#freeBytes -= freeSize;
    }
    return new ArrayBuffer(size);
  }
}

/** What a buffer of `byteLength` takes of a pool: the next of 4, 5, 6, 7 times a power of two, from 4 KiB on. */
export function pooledSize(byteLength: number): number {
  if (byteLength <= SMALLEST_CLASS) return SMALLEST_CLASS;
  const quarter = 2 ** (Math.ceil(Math.log2(byteLength)) - 3);
  return Math.ceil(byteLength / quarter) * quarter;
}

/** The largest buffer that takes at most `bytes` of a pool; 0 where there is none. */
export function largestPooled(bytes: number): number {
  if (bytes < SMALLEST_CLASS) return 0;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  return Math.floor(bytes / quarter) * quarter;
}

/** The most that buffers of `byteLength` together take of a pool, whichever way they share it. */
export function pooledParts(byteLength: number, parts: number): number {
  return byteLength === 0 ? 0 : Math.ceil(1.25 * byteLength) + parts * SMALLEST_CLASS;
}
