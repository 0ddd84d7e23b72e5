/** Kernels may touch this many bytes after each buffer. */
export const SLACK = 64;

/** Buffers start at multiples of this many bytes. */
const UNIT = 1024;

interface FreeRange {
  start: number;
  end: number;
}

/**
 * Buffers in the memory of the kernels, which need not be copied there and back. The memory has its full size from the
 * start, so that its `ArrayBuffer` never changes; pages that nobody touches cost nothing.
 */
export class WasmHeap {
  readonly #bytes: Uint8Array;
  /** Free ranges in order; no two are adjacent. */
  readonly #free: FreeRange[];
  /** For each unit of memory: the unit in which its buffer starts. */
  readonly #begins: Int32Array;

  /** @param start start of the part of `memory` that can be allocated */
  constructor(memory: ArrayBuffer, start: number) {
    this.#bytes = new Uint8Array(memory);
    this.#free = [{ start: Math.ceil(start / UNIT) * UNIT, end: memory.byteLength }];
    this.#begins = new Int32Array(memory.byteLength / UNIT);
  }

  /** The whole memory. */
  get memory(): ArrayBufferLike {
    return this.#bytes.buffer;
  }

  /** Allocates a buffer at the lowest free address; undefined if no free range is large enough. */
  allocate(byteLength: number): Uint8Array | undefined {
    const length = Math.ceil((byteLength + SLACK) / UNIT) * UNIT;
    const place = this.#free.findIndex(({ start, end }) => end - start >= length);
    const range = this.#free[place];
    if (range === undefined) return undefined;
    const { start } = range;
    range.start += length;
    if (range.start === range.end) this.#free.splice(place, 1);
    this.#begins.fill(start / UNIT, start / UNIT, (start + length) / UNIT);
    return this.#bytes.subarray(start, start + byteLength);
  }

  /** Start of the buffer that `view` belongs to. */
  beginOf({ byteOffset }: Uint8Array): number {
    return (this.#begins[Math.floor(byteOffset / UNIT)] ?? 0) * UNIT;
  }

  release({ byteOffset: start, byteLength }: Uint8Array): void {
    const end = start + Math.ceil((byteLength + SLACK) / UNIT) * UNIT;
    const found = this.#free.findIndex((range) => range.start >= end);
    const place = found < 0 ? this.#free.length : found;
    const before = this.#free[place - 1];
    const after = this.#free[place];
    const joinsBefore = before?.end === start;
    const joinsAfter = after?.start === end;
    if (before && after && joinsBefore && joinsAfter) {
      before.end = after.end;
      this.#free.splice(place, 1);
    } else if (before && joinsBefore) before.end = end;
    else if (after && joinsAfter) after.start = start;
    else this.#free.splice(place, 0, { start, end });
  }
}
