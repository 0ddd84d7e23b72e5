import { ZarrflowError } from "../../../util/errors.ts";
import { kernels } from "../../kernels/kernels.ts";
import { nodeZlib } from "../deflate/node-zlib.ts";
import type { ZstdBackend } from "./backend.ts";
import { kernelZstd } from "./kernel-zstd.ts";
import { type NodeZstd, nodeZstd } from "./node-zstd.ts";

/**
 * Kernels of our own, and beside them Node's zstd where it has one (from 22.15).
 *
 * @throws `unsupported-codec` where there is neither.
 */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = await nodeZlib();
  const library = zlib && "zstdCompressSync" in zlib ? nodeZstd(zlib as unknown as NodeZstd) : undefined;
  const { zstd } = kernels();
  if (zstd) return kernelZstd(zstd, library);
  if (library) return library;
  throw new ZarrflowError(
    "unsupported-codec",
    "zstd needs WebAssembly with SIMD, which is missing or barred here",
    { hint: "Allow WebAssembly (in a page by `wasm-unsafe-eval`), or use Node 22.15 or newer." },
  );
}
