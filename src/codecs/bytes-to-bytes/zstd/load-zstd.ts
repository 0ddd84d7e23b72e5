import { nodeZlib } from "../deflate/node-zlib.ts";
import type { ZstdBackend } from "./backend.ts";
import type { NodeZstd } from "./node-zstd.ts";

/** Node's own zstd where it has one (from 22.15), else WebAssembly. */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = await nodeZlib();
  if (zlib && "zstdCompressSync" in zlib) {
    return (await import("./node-zstd.ts")).nodeZstd(zlib as unknown as NodeZstd);
  }
  return (await import("./wasm-zstd.ts")).loadWasmZstd();
}
