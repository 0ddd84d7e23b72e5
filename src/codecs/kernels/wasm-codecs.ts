import { compiledKernels } from "../../util/platform.node.ts";
import { packedWasm } from "./wasm-bytes/codecs.ts";
import { compileWasm, type WasmMemory } from "./wasm-memory.ts";

/** The exports of the codecs module; addresses and lengths in bytes. */
export interface CodecExports {
  shuffle(source: number, target: number, items: number, itemSize: number, step: number): void;
  unshuffle(source: number, target: number, items: number, itemSize: number, step: number): void;
  splitBits(source: number, target: number, planes: number, items: number, step: number): void;
  joinBits(source: number, target: number, planes: number, items: number, step: number): void;
  lz4Encode(
    source: number,
    sourceEnd: number,
    target: number,
    targetEnd: number,
    acceleration: number,
  ): number;
  /** With `isPrefix` 1, decodes only as much as fills the target. */
  lz4Decode(source: number, sourceEnd: number, target: number, targetEnd: number, isPrefix: 0 | 1): number;
  blosclzEncode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  blosclzDecode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  /** Also reads the number before `source`. `format` is the number of a format. */
  deltaEncode(source: number, target: number, length: number, format: number): void;
  /** Also reads the number before `start`. */
  deltaDecode(start: number, length: number, format: number): void;
  /** Needs a target of `zstdRoom` bytes for the size of the source. */
  zstdEncode(source: number, sourceEnd: number, target: number, level: number, checksum: number): number;
}

/** Bytes that zstd may touch while it encodes `size` bytes; the frame itself is never as long. */
export function zstdRoom(size: number): number {
  return size + (size >>> 8) + 512 * 1024;
}

let module: WebAssembly.Module | undefined;

/** The kernels of codecs, in the memory that calls currently use. */
export function codecsIn(wasm: WasmMemory): CodecExports {
  module ??= compiledKernels?.codecs ?? compileWasm(packedWasm);
  return wasm.exportsOf(module) as unknown as CodecExports;
}
