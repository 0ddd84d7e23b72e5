import { wasmBase64 } from "./wasm-bytes.ts";

/** What the module exports; addresses and lengths in bytes. */
export interface WasmExports {
  readonly memory: WebAssembly.Memory;
  /** Where the memory begins that the kernels do not use themselves. */
  readonly heapBase: WebAssembly.Global<"i32">;
  shuffle(source: number, target: number, items: number, itemSize: number, step: number): void;
  unshuffle(source: number, target: number, items: number, itemSize: number, step: number): void;
  splitBits(source: number, target: number, planes: number, items: number, step: number): void;
  joinBits(source: number, target: number, planes: number, items: number, step: number): void;
  lz4Encode(
    source: number,
    sourceEnd: number,
    target: number,
    targetEnd: number,
    acceleration: number,
  ): number;
  lz4Decode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  blosclzEncode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  blosclzDecode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  swapBytes(start: number, length: number, unit: number): void;
  /** Reads the number before `source`, too. Lanes are told by their number. */
  differences(source: number, target: number, length: number, lane: number): void;
  /** Reads the number before `start`, too. */
  sums(start: number, length: number, lane: number): void;
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
  /** Takes a target that has room for `zstdRoom` of the source. */
  zstdEncode(source: number, sourceEnd: number, target: number, level: number, checksum: number): number;
}

/** What is done piece by piece takes pieces that stay in the processor's nearer caches. */
export const PIECE = 64 * 1024;

/** Calls that would need more memory than this are not made. */
export const MOST_MEMORY = 1024 * 1024 * 1024;

const PAGE = 65_536;
/** Kernels may touch this many bytes behind each buffer. */
const SLACK = 64;
/** Memory beyond this is let go after use. */
const MOST_KEPT = 48 * 1024 * 1024;

/** Bytes that encoding `size` bytes by zstd may touch, though the frame is never as long. */
export function zstdRoom(size: number): number {
  return size + (size >>> 8) + 512 * 1024;
}

/**
 * The kernels' own memory, of which buffers are laid out anew for each call. It grows to what the largest call needs,
 * and is replaced after a call that needed very much.
 */
export class WasmMemory {
  readonly #module: WebAssembly.Module;
  #exports: WasmExports;
  /** Where buffers may begin. */
  #start: number;
  #bytes: Uint8Array;

  /** @throws where WebAssembly or its SIMD is missing or barred. */
  constructor() {
    this.#module = new WebAssembly.Module(
      Uint8Array.from(atob(wasmBase64), (character) => character.charCodeAt(0)),
    );
    this.#exports = instantiate(this.#module);
    this.#start = firstPlace(this.#exports.heapBase.value);
    this.#bytes = new Uint8Array(this.#exports.memory.buffer);
  }

  get exports(): WasmExports {
    return this.#exports;
  }

  /** All of the memory; valid until the next `layOut`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Addresses of buffers of these sizes, with room behind each; those of the call before are gone. */
  layOut(...sizes: number[]): number[] {
    if (this.#bytes.length > MOST_KEPT) {
      this.#exports = instantiate(this.#module);
      this.#bytes = new Uint8Array(this.#exports.memory.buffer);
    }
    let next = this.#start;
    for (let i = 0; i < sizes.length; i++) {
      const start = next;
      next = firstPlace(start + (sizes[i] as number) + SLACK);
      sizes[i] = start;
    }
    // Only here does the memory grow; to ask it for its buffer takes longer than a small call.
    const missing = next - this.#bytes.length;
    if (missing > 0) {
      const { memory } = this.#exports;
      memory.grow(Math.ceil(missing / PAGE));
      this.#bytes = new Uint8Array(memory.buffer);
    }
    return sizes;
  }
}

/** The first address from `end` on at which a line of cache begins. */
function firstPlace(end: number): number {
  return Math.ceil(end / SLACK) * SLACK;
}

function instantiate(module: WebAssembly.Module): WasmExports {
  return new WebAssembly.Instance(module).exports as unknown as WasmExports;
}
