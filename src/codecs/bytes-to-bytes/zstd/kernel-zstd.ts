import type { ZstdKernels } from "../../kernels/kernel-types.ts";
import { ZSTD_LEVELS, type ZstdBackend } from "./backend.ts";
import { limitHeld } from "./limit-held.ts";

/** Chunks from this size on are encoded faster by the library: its calls cost more, its loops less. */
const LARGE = 32 * 1024;

/**
 * zstd by kernels of our own; `library`, where there is one, encodes large chunks and the highest levels.
 * Decoding by it is no faster, as each call of it makes a new buffer.
 */
export function kernelZstd(kernels: ZstdKernels, library: ZstdBackend | undefined): ZstdBackend {
  return {
    kernelLevels: kernels.levels,
    decodeFrame(frame, target) {
      limitHeld(frame.length + target.length, kernels.maxSize);
      return kernels.decode(frame, target);
    },
    encode(source, target, statedLevel, checksum) {
      const level = statedLevel === 0 ? ZSTD_LEVELS.usual : statedLevel;
      if (library && (level > kernels.levels.most || source.length >= LARGE)) {
        return library.encode(source, target, level, checksum);
      }
      limitHeld(source.length + target.length, kernels.maxSize);
      return kernels.encode(source, target, level, checksum);
    },
  };
}
