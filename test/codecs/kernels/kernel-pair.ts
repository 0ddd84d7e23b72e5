import { wasmKernels as wasmCommon } from "../../../src/codecs/kernels/kernels.ts";
import { wasmBlocks } from "../../../src/codecs/kernels/wasm-blocks.ts";
import { wasmLz4, wasmZstdEncoder } from "../../../src/codecs/kernels/wasm-codecs.ts";
import { wasmDelta, wasmShuffle } from "../../../src/codecs/kernels/wasm-filters.ts";
import { WasmMemory } from "../../../src/codecs/kernels/wasm-memory.ts";
import { wasmZstd } from "../../../src/codecs/zstd/decoder.ts";

/** All kernels, as if one caller needed them. */
export function allKernels(wasm: WasmMemory) {
  return {
    ...wasmCommon(wasm),
    ...wasmShuffle(wasm),
    ...wasmLz4(wasm),
    ...wasmDelta(wasm),
    blocks: wasmBlocks(wasm),
    zstd: { ...wasmZstd(wasm), ...wasmZstdEncoder(wasm) },
  };
}

/** The kernels in WebAssembly, which every runtime that tests run on has. */
export const wasmKernels = allKernels(new WasmMemory());
