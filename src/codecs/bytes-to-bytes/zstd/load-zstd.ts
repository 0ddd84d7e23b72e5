import { kernels } from "../../kernels/kernels.ts";
import { nodeZlib } from "../deflate/node-zlib.ts";
import type { ZstdBackend } from "./backend.ts";
import { kernelZstd } from "./kernel-zstd.ts";
import { type NodeZstd, nodeZstd } from "./node-zstd.ts";

/** Kernels of our own, and beside them Node's zstd where it has one (from 22.15). */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = await nodeZlib();
  const library = zlib && "zstdCompressSync" in zlib ? nodeZstd(zlib as unknown as NodeZstd) : undefined;
  return kernelZstd(kernels().zstd, library);
}
