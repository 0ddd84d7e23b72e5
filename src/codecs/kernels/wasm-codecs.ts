import { compiledKernels } from "../../util/platform.node.ts";
import { packedWasm } from "./wasm-bytes/codecs.ts";
import { compileWasm, type WasmMemory } from "./wasm-memory.ts";

/** What the module of codecs exports; addresses and lengths in bytes. */
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
  /** Of a prefix (1) no more is decoded than fills the target. */
  lz4Decode(source: number, sourceEnd: number, target: number, targetEnd: number, isPrefix: 0 | 1): number;
  blosclzEncode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  blosclzDecode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  /** Reads the number before `source`, too. Formats of numbers are passed by number. */
  deltaEncode(source: number, target: number, length: number, format: number): void;
  /** Reads the number before `start`, too. */
  deltaDecode(start: number, length: number, format: number): void;
  /** Takes a target that has room for `zstdRoom` of the source. */
  zstdEncode(source: number, sourceEnd: number, target: number, level: number, checksum: number): number;
}

/** Bytes that encoding `size` bytes by zstd may touch, though the frame is never as long. */
export function zstdRoom(size: number): number {
  return size + (size >>> 8) + 512 * 1024;
}

let module: WebAssembly.Module | undefined;

/** The kernels of codecs, in the memory in which calls run now. */
export function codecsIn(wasm: WasmMemory): CodecExports {
  module ??= compiledKernels?.codecs ?? compileWasm(packedWasm);
  return wasm.exportsOf(module) as unknown as CodecExports;
}
