import type { Kernels } from "../../../src/codecs/kernels/kernel-types.ts";
import { createWasmKernels } from "../../../src/codecs/kernels/wasm-kernels.ts";
import { plainKernels } from "./plain-kernels.ts";

/** The kernels in WebAssembly, which every runtime that tests run on has. */
export const wasmKernels = createWasmKernels();

/** Both, to be held to the same tests. */
export const bothKernels: readonly (readonly [string, Pick<Kernels, keyof typeof plainKernels>])[] = [
  ["wasm", wasmKernels],
  ["plain", plainKernels],
];
