import type { Kernels } from "./kernel-types.ts";
import { plainKernels } from "./plain-kernels.ts";
import { createWasmKernels } from "./wasm-kernels.ts";

let chosen: Kernels | undefined;

/** The kernels of this thread: WebAssembly with SIMD, or plain TypeScript where that is missing or barred. */
export function kernels(): Kernels {
  chosen ??= createWasmKernels() ?? plainKernels;
  return chosen;
}

/** Which kernels run here. */
export function kernelKind(): Kernels["kind"] {
  return kernels().kind;
}
