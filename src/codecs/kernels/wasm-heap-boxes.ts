import type { HeapBoxes } from "./kernel-types.ts";
import type { WasmMemory } from "./wasm-memory.ts";

/** Targets that are copied to in one call. */
const MAX_TARGETS = 1024;

/** Boxes are laid out one after the other, the source first. */
export function wasmHeapBoxes(wasm: WasmMemory): HeapBoxes {
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
