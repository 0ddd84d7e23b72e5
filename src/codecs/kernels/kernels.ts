import { ZarrflowError } from "../../util/errors.ts";
import type { OpenHeap } from "./kernel-types.ts";
import { wasmKernels } from "./wasm-kernels.ts";
import { WasmMemory } from "./wasm-memory.ts";

/**
 * From this many decoded bytes on, opening the heap pays off. Its two gigabytes of addresses make V8 collect all
 * garbage twice, which takes 15 ms.
 */
export const WORTH_A_HEAP = 2 ** 24;

let memory: WasmMemory | undefined;

/**
 * Creates kernels in the memory of this thread on first use.
 *
 * @param make creates the kernels; codecs pass their own, so that unused kernels are not loaded
 * @returns a function that returns the kernels. It throws `unsupported-codec` if WebAssembly or its SIMD is missing or
 *   blocked.
 */
export function kernelsOfThread<T>(make: (wasm: WasmMemory) => T): () => T {
  let made: T | undefined;
  return () => {
    memory ??= createMemory();
    made ??= make(memory);
    return made;
  };
}

export const kernels = kernelsOfThread(wasmKernels);

function createMemory(): WasmMemory {
  try {
    return new WasmMemory();
  } catch (cause) {
    const hint =
      "Allow WebAssembly (in a web page with `wasm-unsafe-eval`): chunks are decoded and encoded by it.";
    const reason = "WebAssembly with SIMD is missing or blocked here";
    throw new ZarrflowError("unsupported-codec", reason, { hint }, { cause });
  }
}

/**
 * Opens the heap in the memory of this thread's kernels, or shares it if it is open. Kernels work on buffers of the
 * heap in place.
 *
 * @returns undefined if there is no room for its addresses.
 */
export function openKernelHeap(): OpenHeap | undefined {
  return kernels().openHeap();
}
