import type { HeapBoxes, Kernels } from "./kernel-types.ts";
import { isWhole, PIECE, type WasmMemory } from "./wasm-memory.ts";
import { wasmTranspose } from "./wasm-transpose.ts";

/** The kernels that arrays of all codecs need. */
export function wasmKernels(wasm: WasmMemory): Kernels {
  return {
    swapBytes(bytes, unit) {
      const [at = 0] = wasm.allocate(PIECE);
      if (wasm.holds(bytes) && isWhole(bytes.length)) {
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
