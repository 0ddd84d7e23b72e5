import type { ZstdKernels } from "./kernel-types.ts";
import { MAX_MEMORY, type WasmMemory } from "./wasm-memory.ts";

/** Decodes whole frames of zstd. */
export function wasmZstd(wasm: WasmMemory): ZstdKernels {
  return {
    maxSize: MAX_MEMORY,

    decode(frame, target) {
      const [f = 0, t = 0] = wasm.allocate(frame, target);
      const from = wasm.copyIn(frame, f);
      const to = wasm.placeFor(target, t);
      const size = wasm.exports.zstdDecode(from, from + frame.length, to, to + target.length);
      if (size > 0) wasm.fetch(target, to, size);
      return size;
    },
  };
}
