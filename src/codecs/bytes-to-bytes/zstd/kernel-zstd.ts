import type { ZstdKernels } from "../../kernels/kernel-types.ts";
import type { ZstdBackend } from "./backend.ts";
import { limitHeld } from "./limit-held.ts";

/** zstd by kernels of our own, which do not encode yet: `encoder` does. */
export function kernelZstd(kernels: ZstdKernels, encoder: ZstdBackend): ZstdBackend {
  return {
    decodeFrame(frame, target) {
      limitHeld(frame.length + target.length, kernels.maxSize);
      return kernels.decode(frame, target);
    },
    encode: encoder.encode,
  };
}
