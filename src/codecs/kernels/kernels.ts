import { ZarrflowError } from "../../util/errors.ts";
import type { Kernels, OpenHeap } from "./kernel-types.ts";
import { createWasmKernels } from "./wasm-kernels.ts";

/**
 * From so many decoded bytes on, it pays to open the heap: its two gigabytes of addresses make V8 collect all garbage
 * twice, which takes 15 ms.
 */
export const WORTH_A_HEAP = 2 ** 24;

let ofThread: Kernels | undefined;

/**
 * The kernels of this thread.
 *
 * @throws `unsupported-codec` where WebAssembly or its SIMD is missing or blocked.
 */
export function kernels(): Kernels {
  ofThread ??= create();
  return ofThread;
}

function create(): Kernels {
  try {
    return createWasmKernels();
  } catch (cause) {
    const hint =
      "Allow WebAssembly (in a web page with `wasm-unsafe-eval`): chunks are decoded and encoded by it.";
    const reason = "WebAssembly with SIMD is missing or blocked here";
    throw new ZarrflowError("unsupported-codec", reason, { hint }, { cause });
  }
}

/**
 * Opens the heap in the memory of this thread's kernels, or shares the one that is open: buffers of it are worked on
 * where they lie.
 *
 * @returns undefined where there is no room for its addresses.
 */
export function openKernelHeap(): OpenHeap | undefined {
  return kernels().openHeap();
}
