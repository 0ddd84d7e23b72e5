import { ZarrflowError } from "../../util/errors.ts";
import type { HeapBoxes, Kernels, OpenHeap, TransposeKernel } from "./kernel-types.ts";
import { isWholeSteps, PIECE, WasmMemory } from "./wasm-memory.ts";

/** The kernels that arrays of all codecs need. */
export function wasmKernels(wasm: WasmMemory): Kernels {
  return {
    swapBytes(bytes, unit) {
      const [at = 0] = wasm.allocate(PIECE);
      if (wasm.holds(bytes) && isWholeSteps(bytes.length)) {
        wasm.exports.swapBytes(bytes.byteOffset, bytes.length, unit);
        return;
      }
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        wasm.bytes.set(piece, at);
        wasm.exports.swapBytes(at, piece.length, unit);
        piece.set(wasm.bytes.subarray(at, at + piece.length));
      }
    },

    crc32c(bytes) {
      const [at = 0] = wasm.allocate(PIECE);
      if (wasm.holds(bytes)) return ~wasm.exports.crc32c(-1, bytes.byteOffset, bytes.length) >>> 0;
      let crc = -1;
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        wasm.bytes.set(piece, at);
        crc = wasm.exports.crc32c(crc, at, piece.length);
      }
      return ~crc >>> 0;
    },

    transpose: wasmTranspose(wasm),
    heapBoxes: wasmHeapBoxes(wasm),
    copyRowsOf: (source, target) => wasm.inHeap(source, target)?.copyRows,

    openHeap() {
      const heap = wasm.openHeap();
      return heap && { heap, close: () => wasm.closeHeap() };
    },
  };
}

/** Targets that one call copies to. */
const MAX_TARGETS = 1024;

/** Passes boxes to the kernel one after another, the source first. */
function wasmHeapBoxes(wasm: WasmMemory): HeapBoxes {
  return {
    holds: (bytes) => wasm.inHeap(bytes, bytes) !== undefined,
    copyShared(source, targets, itemSize) {
      const { length, byteLength } = source;
      const rank = (length - 1) / 3;
      const most = MAX_TARGETS * length;
      for (let first = 0; first < targets.length; first += most) {
        const some = targets.length > most ? targets.subarray(first, first + most) : targets;
        const [at = 0] = wasm.allocate(byteLength + some.byteLength);
        const boxes = new Float64Array(wasm.bytes.buffer, at, length + some.length);
        boxes.set(source);
        boxes.set(some, length);
        wasm.exports.copyShared(at, at + byteLength, some.length / length, rank, itemSize);
      }
    },
  };
}

/**
 * From this many decoded bytes on, opening the heap pays off. Its two gigabytes of addresses make V8 collect all
 * garbage twice, which takes 15 ms.
 */
export const WORTH_A_HEAP = 2 ** 24;

let memory: WasmMemory | undefined;

/**
 * Creates kernels in the memory of this thread on first use.
 *
 * @param make creates the kernels; codecs pass their own, so that unused kernels are not loaded
 * @returns a function that returns the kernels. It throws `unsupported-codec` if WebAssembly or its SIMD is missing or
 *   blocked.
 */
export function kernelsOfThread<T>(make: (wasm: WasmMemory) => T): () => T {
  let made: T | undefined;
  return () => {
    memory ??= createMemory();
    made ??= make(memory);
    return made;
  };
}

export const kernels = kernelsOfThread(wasmKernels);

function createMemory(): WasmMemory {
  try {
    return new WasmMemory();
  } catch (cause) {
    const hint =
      "Allow WebAssembly (in a web page with `wasm-unsafe-eval`), which decodes and encodes chunks.";
    const reason = "WebAssembly with SIMD is missing or blocked here";
    throw new ZarrflowError("unsupported-codec", reason, { hint }, { cause });
  }
}

/**
 * Opens the heap in the memory of this thread's kernels, or shares it if it is open. Kernels work on buffers of the
 * heap in place.
 *
 * @returns undefined if there is no room for its addresses.
 */
export function openKernelHeap(): OpenHeap | undefined {
  return kernels().openHeap();
}

/** Smaller arrays are moved faster than they could be copied in; larger ones exceed the nearer caches. */
const MIN_SIZE = 512;
const MAX_SIZE = 4 * 1024 * 1024;
/** Columns that the kernel processes together. */
const BLOCK = 16;

/** Copies the source in as a whole, and the target out in pieces of columns, which are rows of the target. */
export function wasmTranspose(wasm: WasmMemory): TransposeKernel {
  return (source, target, rows, columns, itemSize) => {
    const size = rows * columns * itemSize;
    const isTaken = itemSize === 1 || itemSize === 2 || itemSize === 4 || itemSize === 8;
    if (!isTaken || size < MIN_SIZE || size > MAX_SIZE) return false;
    if (Math.min(rows, columns) * itemSize < 16) return false;
    const sourceStep = columns * itemSize;
    const targetStep = rows * itemSize;
    const most = Math.max(BLOCK, Math.floor(PIECE / targetStep) & -BLOCK);
    const [room = 0, to = 0] = wasm.allocate(source, Math.min(size, (most + BLOCK) * targetStep));
    const from = wasm.copyIn(source, room);
    for (let first = 0; first < columns; ) {
      // If the last columns are fewer than a block, they join the columns before.
      const left = columns - first;
      const count = left < most + BLOCK ? left : most;
      wasm.exports.transpose(from + first * itemSize, to, rows, count, itemSize, sourceStep, targetStep);
      target.set(wasm.bytes.subarray(to, to + count * targetStep), first * targetStep);
      first += count;
    }
    return true;
  };
}
