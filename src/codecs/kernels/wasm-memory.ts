import { builtin, compiledKernels } from "../../util/platform.node.ts";
import { inflatePacked } from "./inflate-packed.ts";
import type { CopyRows } from "./kernel-types.ts";
import { HEAP_BASE, packedWasm } from "./wasm-bytes/reading.ts";
import { SLACK, WasmHeap } from "./wasm-heap.ts";

/** What the module exports that reading needs; addresses and lengths in bytes. */
export interface WasmExports {
  readonly memory: WebAssembly.Memory;
  swapBytes(start: number, length: number, unit: number): void;
  readonly copyRows: CopyRows;
  copyShared(source: number, targets: number, count: number, rank: number, itemSize: number): void;
  crc32c(crc: number, source: number, length: number): number;
  /** Rows lie steps apart, in bytes. Takes 16 bytes of rows and of columns at least, of items of 1, 2, 4 or 8. */
  transpose(
    source: number,
    target: number,
    rows: number,
    columns: number,
    itemSize: number,
    sourceStep: number,
    targetStep: number,
  ): void;
  zstdDecode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
}

/** What is done piece by piece takes pieces that stay in the processor's nearer caches. */
export const PIECE = 64 * 1024;

/** Whether what works in place, 16 bytes a step, touches nothing behind so many bytes. */
export function isWhole(length: number): boolean {
  return length > 0 && length % 16 === 0;
}

/** Calls that would need more memory than this are not made. */
export const MAX_MEMORY = 1024 * 1024 * 1024;

const PAGE = 65_536;
/** Memory beyond this is let go after use. */
const MAX_KEPT = 48 * 1024 * 1024;

/** Bytes of a memory with a heap in it: addresses stay below 2^31. */
const HEAP_MEMORY = 0x7fff_0000;

/**
 * The memory in which the kernels run. Buffers are laid out in it anew for each call, and views that lie elsewhere are
 * copied there and back; it grows to what the largest call needs, and is replaced after a call that needed very much.
 *
 * While a heap is open, calls run in the heap's memory, where buffers that it gave away are worked on in place.
 */
export class WasmMemory {
  readonly #module: WebAssembly.Module;
  #own: Instance;
  #heap: (Instance & { readonly heap: WasmHeap }) | undefined;
  #heapUsers = 0;
  /** The one in which calls run. */
  #now: Instance;

  /** @throws where WebAssembly or its SIMD is missing or blocked. */
  constructor() {
    this.#module = compiledKernels?.reading ?? compileWasm(packedWasm);
    this.#own = instantiate(this.#module);
    this.#now = this.#own;
  }

  get exports(): WasmExports {
    return this.#now.exports;
  }

  /** What another module exports, in the memory in which calls run: those of codecs. */
  exportsOf(module: WebAssembly.Module): WebAssembly.Exports {
    const now = this.#now;
    now.others ??= new WebAssembly.Instance(module, { env: { memory: now.exports.memory } }).exports;
    return now.others;
  }

  /** All of the memory; valid until the next `allocate`. */
  get bytes(): Uint8Array {
    return this.#now.bytes;
  }

  /**
   * Opens the heap of this thread, or shares the one that is open.
   *
   * @returns undefined where there is no room for its addresses.
   */
  openHeap(): WasmHeap | undefined {
    try {
      this.#heap ??= withHeap(this.#module);
      this.#heapUsers++;
      return this.#heap.heap;
    } catch {
      return undefined;
    }
  }

  /** Lets the memory of the heap go, once all who opened it have closed it. */
  closeHeap(): void {
    this.#heapUsers--;
    if (this.#heapUsers === 0) this.#heap = undefined;
    this.#now = this.#own;
  }

  /** The kernels of the heap's memory, where both views lie in it. */
  inHeap(source: Uint8Array, target: Uint8Array): WasmExports | undefined {
    const heap = this.#heap;
    return heap && source.buffer === heap.bytes.buffer && target.buffer === source.buffer
      ? heap.exports
      : undefined;
  }

  /** Whether a view lies in the memory in which calls run. */
  holds(view: Uint8Array): boolean {
    return view.buffer === this.#now.bytes.buffer;
  }

  /** Where a view lies in the memory, if it does; else it is copied to `place`. */
  copyIn(view: Uint8Array, place: number): number {
    if (view.buffer === this.#now.bytes.buffer) return view.byteOffset;
    this.#now.bytes.set(view, place);
    return place;
  }

  /** Where what becomes the content of a view is written: at its own address where it has one, else at `place`. */
  placeFor(view: Uint8Array, place: number): number {
    return view.buffer === this.#now.bytes.buffer ? view.byteOffset : place;
  }

  /** Copies what was written at `place` into the view, unless it was written there. */
  fetch(view: Uint8Array, place: number, length: number): void {
    const { bytes } = this.#now;
    if (view.buffer !== bytes.buffer || view.byteOffset !== place)
      view.set(bytes.subarray(place, place + length));
  }

  /**
   * Addresses of buffers of these sizes, or for these views, with room behind each; those of the call before are gone.
   * A view that lies in the memory in which the call runs needs none.
   */
  allocate(...needs: (number | Uint8Array)[]): number[] {
    if (this.#own.bytes.length > MAX_KEPT) this.#own = instantiate(this.#module);
    const now = this.#heap && fits(needs, this.#heap) ? this.#heap : this.#own;
    this.#now = now;
    const places = new Array<number>(needs.length);
    let next = now.start;
    for (let i = 0; i < needs.length; i++) {
      places[i] = next;
      next = firstPlace(next + roomFor(needs[i] ?? 0, now) + SLACK);
    }
    // Only here does the memory grow; to ask it for its buffer takes longer than a small call.
    const missing = next - now.bytes.length;
    if (missing > 0) {
      const { memory } = now.exports;
      memory.grow(Math.ceil(missing / PAGE));
      now.bytes = new Uint8Array(memory.buffer);
    }
    return places;
  }
}

interface Instance {
  readonly exports: WasmExports;
  others?: WebAssembly.Exports;
  bytes: Uint8Array;
  /** Where buffers may begin. */
  readonly start: number;
}

/** Each thread compiles modules anew. */
export function compileWasm({ base64, size }: typeof packedWasm): WebAssembly.Module {
  const packed = bytesOfBase64(base64);
  const zlib = builtin("node:zlib");
  const bytes = zlib ? new Uint8Array(zlib.inflateRawSync(packed)) : inflatePacked(packed, size);
  return new WebAssembly.Module(bytes);
}

/** Where there is no `Buffer`, by a loop: `Uint8Array.from` takes milliseconds. */
function bytesOfBase64(base64: string): Uint8Array {
  if (globalThis.Buffer) return globalThis.Buffer.from(base64, "base64");
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function instantiate(module: WebAssembly.Module): Instance {
  const exports = new WebAssembly.Instance(module).exports as unknown as WasmExports;
  return {
    exports,
    bytes: new Uint8Array(exports.memory.buffer),
    start: firstPlace(HEAP_BASE),
  };
}

/** In front of the heap there is room for what calls lay out. */
function withHeap(module: WebAssembly.Module): Instance & { readonly heap: WasmHeap } {
  const { exports, start } = instantiate(module);
  const { memory } = exports;
  memory.grow((HEAP_MEMORY - memory.buffer.byteLength) / PAGE);
  const heap = new WasmHeap(memory.buffer, start + MAX_KEPT);
  return { exports, start, bytes: new Uint8Array(memory.buffer), heap };
}

/** Whether what is needed fits in front of the heap. */
function fits(needs: readonly (number | Uint8Array)[], heap: Instance): boolean {
  let total = 0;
  for (const need of needs) total += roomFor(need, heap) + 2 * SLACK;
  return total <= MAX_KEPT;
}

function roomFor(need: number | Uint8Array, { bytes }: Instance): number {
  if (typeof need === "number") return need;
  return need.buffer === bytes.buffer ? 0 : need.length;
}

/** The first address from `end` on at which a line of cache begins. */
function firstPlace(end: number): number {
  return Math.ceil(end / SLACK) * SLACK;
}
