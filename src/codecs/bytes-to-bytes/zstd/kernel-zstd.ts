import { ZarrflowError } from "../../../util/errors.ts";
import type { ZstdKernels } from "../../kernels/kernel-types.ts";
import { ZSTD_LEVELS, type ZstdBackend } from "./backend.ts";

/** Chunks from this size on are encoded faster by the library: its calls cost more, its loops less. */
const LARGE = 32 * 1024;
/** So are chunks decoded of these sizes; the buffer that each call makes outweighs that beyond them. */
const DECODED_BY_LIBRARY = { least: 128 * 1024, most: 8 * 1024 * 1024 };

/** zstd by kernels of our own; `library`, where there is one, takes large chunks and encodes the highest levels. */
export function kernelZstd(kernels: ZstdKernels, library: ZstdBackend | undefined): ZstdBackend {
  return {
    kernelLevels: kernels.levels,
    decodeFrame(frame, target) {
      const { least, most } = DECODED_BY_LIBRARY;
      if (library && target.length >= least && target.length <= most) {
        return library.decodeFrame(frame, target);
      }
      assertHeldLimit(frame.length + target.length, kernels.maxSize);
      return kernels.decode(frame, target);
    },
    encode(source, target, statedLevel, checksum) {
      const level = statedLevel === 0 ? ZSTD_LEVELS.usual : statedLevel;
      if (library && (level > kernels.levels.most || source.length >= LARGE)) {
        return library.encode(source, target, level, checksum);
      }
      assertHeldLimit(source.length + target.length, kernels.maxSize);
      return kernels.encode(source, target, level, checksum);
    },
  };
}

/** @throws `resource-limit` when a WebAssembly memory would have to hold more than `most` bytes at once. */
function assertHeldLimit(bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new ZarrflowError("resource-limit", "zstd takes at most 1 GiB a chunk, encoded and decoded", {
    expected: most,
    found: bytes,
  });
}
