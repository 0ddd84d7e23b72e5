import { builtin, compiledKernels } from "../../util/platform.node.ts";
import { inflatePacked } from "./inflate-packed.ts";
import type { CopyRows } from "./kernel-types.ts";
import { HEAP_BASE, packedWasm } from "./wasm-bytes/reading.ts";
import { SLACK, WasmHeap } from "./wasm-heap.ts";

/** The exports of the reading module; addresses and lengths in bytes. */
export interface WasmExports {
  readonly memory: WebAssembly.Memory;
  swapBytes(start: number, length: number, unit: number): void;
  readonly copyRows: CopyRows;
  copyShared(source: number, targets: number, count: number, rank: number, itemSize: number): void;
  crc32c(crc: number, source: number, length: number): number;
  /** Steps between rows are in bytes. Needs at least 16 bytes of rows and of columns; items have 1, 2, 4 or 8 bytes. */
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

/** Size of the pieces in which long inputs are processed, so that they stay in the nearer caches of the processor. */
export const PIECE = 64 * 1024;

/** True if kernels that work in place, 16 bytes per step, touch nothing after this many bytes. */
export function isWholeSteps(length: number): boolean {
  return length > 0 && length % 16 === 0;
}

/** Calls that would need more memory than this are not made. */
export const MAX_MEMORY = 1024 * 1024 * 1024;

const PAGE = 65_536;
/** Memory beyond this is freed after use. */
const MAX_KEPT = 48 * 1024 * 1024;

/** Bytes of a memory that contains a heap; its addresses stay below 2^31. */
const HEAP_MEMORY = 0x7fff_0000;

/**
 * The memory in which the kernels run. Each call lays out its buffers in it, and views in other memory are copied there
 * and back. It grows to the needs of the largest call and is replaced after a call that needed very much.
 *
 * While a heap is open, calls run in the memory of the heap, and kernels work on its buffers in place.
 */
export class WasmMemory {
  readonly #module: WebAssembly.Module;
  #own: Instance;
  #heap: (Instance & { readonly heap: WasmHeap }) | undefined;
  #heapUsers = 0;
  /** The instance in which calls currently run. */
  #now: Instance;

  /** @throws if WebAssembly or its SIMD is missing or blocked. */
  constructor() {
    this.#module = compiledKernels?.reading ?? compileWasm(packedWasm);
    this.#own = instantiate(this.#module);
    this.#now = this.#own;
  }

  get exports(): WasmExports {
    return this.#now.exports;
  }

  /** The exports of another module, the codecs, in the memory that calls currently use. */
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
   * Opens the heap of this thread, or shares it if it is open.
   *
   * @returns undefined if there is no room for its addresses.
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

  /** Frees the memory of the heap once all users have closed it. */
  closeHeap(): void {
    this.#heapUsers--;
    if (this.#heapUsers === 0) this.#heap = undefined;
    this.#now = this.#own;
  }

  /** The kernels in the memory of the heap, if both views are in it. */
  inHeap(source: Uint8Array, target: Uint8Array): WasmExports | undefined {
    const heap = this.#heap;
    return heap && source.buffer === heap.bytes.buffer && target.buffer === source.buffer
      ? heap.exports
      : undefined;
  }

  /** True if a view is in the memory that calls currently use. */
  holds(view: Uint8Array): boolean {
    return view.buffer === this.#now.bytes.buffer;
  }

  /** The address of a view in the memory; copies the view to `place` if it is elsewhere. */
  copyIn(view: Uint8Array, place: number): number {
    if (view.buffer === this.#now.bytes.buffer) return view.byteOffset;
    this.#now.bytes.set(view, place);
    return place;
  }

  /** The address to write the content of a view to: its own address if it is in the memory, otherwise `place`. */
  placeFor(view: Uint8Array, place: number): number {
    return view.buffer === this.#now.bytes.buffer ? view.byteOffset : place;
  }

  /** Copies the bytes written at `place` to the view, unless the view itself is at `place`. */
  fetch(view: Uint8Array, place: number, length: number): void {
    const { bytes } = this.#now;
    if (view.buffer !== bytes.buffer || view.byteOffset !== place)
      view.set(bytes.subarray(place, place + length));
  }

  /**
   * Addresses of buffers of these sizes, or for these views, with room after each. Buffers of earlier calls become
   * invalid. A view that is already in the memory needs no room.
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
    // The memory grows only here: to ask it for its buffer takes longer than a small call.
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
  /** Start of the memory for buffers. */
  readonly start: number;
}

/** Compiles a module; each thread compiles its own. */
export function compileWasm({ base64, size }: typeof packedWasm): WebAssembly.Module {
  const packed = bytesOfBase64(base64);
  const zlib = builtin("node:zlib");
  const bytes = zlib ? new Uint8Array(zlib.inflateRawSync(packed)) : inflatePacked(packed, size);
  return new WebAssembly.Module(bytes);
}

/** Decodes Base64 with a loop if there is no `Buffer`, because `Uint8Array.from` takes milliseconds. */
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

/** Creates a heap and leaves room before it for the buffers of calls. */
function withHeap(module: WebAssembly.Module): Instance & { readonly heap: WasmHeap } {
  const { exports, start } = instantiate(module);
  const { memory } = exports;
  memory.grow((HEAP_MEMORY - memory.buffer.byteLength) / PAGE);
  const heap = new WasmHeap(memory.buffer, start + MAX_KEPT);
  return { exports, start, bytes: new Uint8Array(memory.buffer), heap };
}

/** True if buffers of these sizes fit before the heap. */
function fits(needs: readonly (number | Uint8Array)[], heap: Instance): boolean {
  let total = 0;
  for (const need of needs) total += roomFor(need, heap) + 2 * SLACK;
  return total <= MAX_KEPT;
}

function roomFor(need: number | Uint8Array, { bytes }: Instance): number {
  if (typeof need === "number") return need;
  return need.buffer === bytes.buffer ? 0 : need.length;
}

/** The first address from `end` on at which a cache line starts. */
function firstPlace(end: number): number {
  return Math.ceil(end / SLACK) * SLACK;
}
