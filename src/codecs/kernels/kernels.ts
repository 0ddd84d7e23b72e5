import type { Kernels, OpenHeap } from "./kernel-types.ts";
import { plainKernels } from "./plain-kernels.ts";
import { createWasmKernels } from "./wasm-kernels.ts";

/**
 * From so many decoded bytes on, it pays to open the heap: its two gigabytes of addresses make V8 collect all garbage
 * twice, which takes 15 ms.
 */
export const WORTH_A_HEAP = 2 ** 24;

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
