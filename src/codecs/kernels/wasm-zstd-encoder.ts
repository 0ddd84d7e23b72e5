import type { ZstdEncoderKernels } from "./kernel-types.ts";
import { codecsIn, zstdRoom } from "./wasm-codecs.ts";
import { MAX_MEMORY, type WasmMemory } from "./wasm-memory.ts";

/** The levels that the kernels have searches for. Levels below take longer steps with the first search. */
export const ZSTD_KERNEL_LEVELS = { least: 1, most: 9 } as const;

/** Encodes whole frames of zstd, then copies them to the target: encoding needs more room than the target has. */
export function wasmZstdEncoder(wasm: WasmMemory): ZstdEncoderKernels {
  return {
    maxSize: MAX_MEMORY,
    levels: ZSTD_KERNEL_LEVELS,

    encode(source, target, level, checksum) {
      const [s = 0, to = 0] = wasm.allocate(source, zstdRoom(source.length));
      const from = wasm.copyIn(source, s);
      const known = Math.min(level, ZSTD_KERNEL_LEVELS.most);
      const size = codecsIn(wasm).zstdEncode(from, from + source.length, to, known, Number(checksum));
      if (size > target.length) return 0;
      target.set(wasm.bytes.subarray(to, to + size));
      return size;
    },
  };
}
