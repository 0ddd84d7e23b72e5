import { kernels } from "../../kernels/kernels.ts";
import { nodeZlib } from "../deflate/node-zlib.ts";
import type { ZstdBackend } from "./backend.ts";
import type { NodeZstd } from "./node-zstd.ts";

/** Node's own zstd where it has one (from 22.15), else the kernels and a package in WebAssembly. */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = await nodeZlib();
  if (zlib && "zstdCompressSync" in zlib) {
    return (await import("./node-zstd.ts")).nodeZstd(zlib as unknown as NodeZstd);
  }
  const wasm = await (await import("./wasm-zstd.ts")).loadWasmZstd();
  const { zstd } = kernels();
  return zstd ? (await import("./kernel-zstd.ts")).kernelZstd(zstd, wasm) : wasm;
}
