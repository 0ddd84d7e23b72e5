import { builtin } from "../../util/platform.node.ts";
import type { ZstdEncoderKernels } from "../kernels/kernel-types.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { wasmZstdEncoder } from "../kernels/wasm-codecs.ts";
import { assertHeldLimit } from "./decoder.ts";
import { ZSTD_LEVELS, type ZstdEncoder } from "./frames.ts";
import { zstdLibrary } from "./library.node.ts";

/** From this size on, chunks encode faster with the library: its calls cost more, its loops less. */
const LARGE = 32 * 1024;

const zstdKernels = kernelsOfThread(wasmZstdEncoder);

/**
 * Encodes with our kernels and, if Node has it, Node's zstd.
 *
 * @throws as `kernelsOfThread`
 */
export const zstdEncoder = (): ZstdEncoder => kernelEncoder(zstdKernels(), zstdLibrary(builtin("node:zlib")));

/** Encodes with our kernels; `library`, if there is one, handles large chunks and the highest levels. */
export function kernelEncoder(kernels: ZstdEncoderKernels, library: ZstdEncoder | undefined): ZstdEncoder {
  return {
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
