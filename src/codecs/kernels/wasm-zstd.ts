import type { ZstdKernels } from "./kernel-types.ts";
import { MAX_MEMORY, type WasmMemory, zstdRoom } from "./wasm-memory.ts";

/** The levels that the kernels have searches for. Below them the first takes longer steps. */
export const ZSTD_KERNEL_LEVELS = { least: 1, most: 9 } as const;

/** Whole frames of zstd. What encoding gives is copied to its place: on the way it needs more room than that has. */
export function wasmZstd(wasm: WasmMemory): ZstdKernels {
  return {
    maxSize: MAX_MEMORY,
    levels: ZSTD_KERNEL_LEVELS,

    decode(frame, target) {
      const [f = 0, t = 0] = wasm.allocate(frame, target);
      const from = wasm.copyIn(frame, f);
      const to = wasm.placeFor(target, t);
      const size = wasm.exports.zstdDecode(from, from + frame.length, to, to + target.length);
      if (size > 0) wasm.fetch(target, to, size);
      return size;
    },

    encode(source, target, level, checksum) {
      const [s = 0, to = 0] = wasm.allocate(source, zstdRoom(source.length));
      const from = wasm.copyIn(source, s);
      const known = Math.min(level, ZSTD_KERNEL_LEVELS.most);
      const size = wasm.exports.zstdEncode(from, from + source.length, to, known, Number(checksum));
      if (size > target.length) return 0;
      target.set(wasm.bytes.subarray(to, to + size));
      return size;
    },
  };
}
