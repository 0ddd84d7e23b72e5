import type { ZstdKernels } from "./kernel-types.ts";
import { MOST_MEMORY, type WasmMemory, zstdRoom } from "./wasm-memory.ts";

/** The levels that the kernels have a search for. */
export const ZSTD_KERNEL_LEVELS = { least: 1, most: 3 } as const;

/** Whole frames of zstd: copied in, and out again. */
export function wasmZstd(wasm: WasmMemory): ZstdKernels {
  return {
    maxSize: MOST_MEMORY,
    levels: ZSTD_KERNEL_LEVELS,

    decode(frame, target) {
      const [from = 0, to = 0] = wasm.layOut(frame.length, target.length);
      wasm.bytes.set(frame, from);
      const size = wasm.exports.zstdDecode(from, from + frame.length, to, to + target.length);
      if (size > 0) target.set(wasm.bytes.subarray(to, to + size));
      return size;
    },

    encode(source, target, level, checksum) {
      const [from = 0, to = 0] = wasm.layOut(source.length, zstdRoom(source.length));
      wasm.bytes.set(source, from);
      const size = wasm.exports.zstdEncode(from, from + source.length, to, level, Number(checksum));
      if (size > target.length) return 0;
      target.set(wasm.bytes.subarray(to, to + size));
      return size;
    },
  };
}
