import type { Kernels, OpenHeap } from "./kernel-types.ts";
import { plainKernels } from "./plain-kernels.ts";
import { createWasmKernels } from "./wasm-kernels.ts";

let chosen: Kernels | undefined;

/** The kernels of this thread: WebAssembly with SIMD, or plain TypeScript where that is missing or barred. */
export function kernels(): Kernels {
  chosen ??= createWasmKernels() ?? plainKernels;
  return chosen;
}

/**
 * Opens the heap in the memory of this thread's kernels, or shares the one that is open: buffers of it are worked on
 * where they lie.
 *
 * @returns undefined where the kernels have no memory.
 */
export function openKernelHeap(): OpenHeap | undefined {
  return kernels().openHeap?.();
}

/** Which kernels run here. */
export function kernelKind(): Kernels["kind"] {
  return kernels().kind;
}
