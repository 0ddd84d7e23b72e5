import { nodeZlib } from "../deflate/node-zlib.ts";

/** What runs zstd here. */
export interface ZstdBackend {
  /**
   * Decodes one whole frame into `target`, which bounds it.
   *
   * @returns the bytes written; -1 where the frame is broken or gives more than `target` holds.
   */
  decodeFrame(frame: Uint8Array, target: Uint8Array): number;
  /** Encodes all of `source` as one frame. @returns the bytes written, or 0 where `target` is too small. */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}

/** Levels of the zstd library; 0 is its default. */
export const ZSTD_LEVELS = { least: -131_072, most: 22 } as const;

/** Node's own zstd where it has one (from 22.15), else WebAssembly. */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = await nodeZlib();
  if (zlib && "zstdCompressSync" in zlib) {
    return (await import("./node-zstd.ts")).nodeZstd(zlib as unknown as import("./node-zstd.ts").NodeZstd);
  }
  return (await import("./wasm-zstd.ts")).loadWasmZstd();
}
