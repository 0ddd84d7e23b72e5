import type { ZstdKernels } from "../../kernels/kernel-types.ts";
import { ZSTD_LEVELS, type ZstdBackend } from "./backend.ts";
import { limitHeld } from "./limit-held.ts";

/** zstd by kernels of our own; `others` encodes the levels that they do not know. */
export function kernelZstd(kernels: ZstdKernels, others: ZstdBackend): ZstdBackend {
  const { least, most } = kernels.levels;
  return {
    kernelLevels: kernels.levels,
    decodeFrame(frame, target) {
      limitHeld(frame.length + target.length, kernels.maxSize);
      return kernels.decode(frame, target);
    },
    encode(source, target, statedLevel, checksum) {
      const level = statedLevel === 0 ? ZSTD_LEVELS.usual : statedLevel;
      if (level < least || level > most) return others.encode(source, target, level, checksum);
      limitHeld(source.length + target.length, kernels.maxSize);
      return kernels.encode(source, target, level, checksum);
    },
  };
}
