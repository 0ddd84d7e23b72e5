import type { Kernels } from "../../../src/codecs/kernels/kernel-types.ts";
import { plainKernels } from "../../../src/codecs/kernels/plain-kernels.ts";
import { createWasmKernels } from "../../../src/codecs/kernels/wasm-kernels.ts";

/** The kernels in WebAssembly, which every runtime that tests run on has. */
export const wasmKernels = required(createWasmKernels());

/** Both, to be held to the same tests. */
export const bothKernels: readonly (readonly [string, Kernels])[] = [
  ["wasm", wasmKernels],
  ["plain", plainKernels],
];

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("there is no WebAssembly with SIMD here");
  return value;
}
