import { compiledKernels } from "../../util/platform.node.ts";
import type { Lz4Kernels, ZstdEncoderKernels } from "./kernel-types.ts";
import { lz4Decode, lz4Encode } from "./lz4-block.ts";
import { packedWasm } from "./wasm-bytes/codecs.ts";
import { compileWasm, MAX_MEMORY, type WasmMemory } from "./wasm-memory.ts";

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

/** Blocks of LZ4; blocks that do not fit in the memory are handled in TypeScript. */
export function wasmLz4(wasm: WasmMemory): Lz4Kernels {
  return {
    lz4Encode(source, target, acceleration) {
      if (source.length + target.length > MAX_MEMORY) {
        return lz4Encode(source, 0, source.length, target, 0, target.length, acceleration);
      }
      const [s = 0, t = 0] = wasm.allocate(source, target);
      const from = wasm.copyIn(source, s);
      const to = wasm.placeFor(target, t);
      const end = from + source.length;
      const size = codecsIn(wasm).lz4Encode(from, end, to, to + target.length, acceleration);
      wasm.fetch(target, to, size);
      return size;
    },

    lz4Decode(source, target) {
      if (source.length + target.length > MAX_MEMORY) {
        return lz4Decode(source, 0, source.length, target, 0, target.length);
      }
      const [s = 0, t = 0] = wasm.allocate(source, target);
      const from = wasm.copyIn(source, s);
      const to = wasm.placeFor(target, t);
      const size = codecsIn(wasm).lz4Decode(from, from + source.length, to, to + target.length, 0);
      if (size > 0) wasm.fetch(target, to, size);
      return size;
    },

    lz4DecodePart(source, target, offset) {
      const end = offset + target.length;
      if (source.length + end > MAX_MEMORY) return decodeLargePart(source, target, offset);
      const [s = 0, t = 0] = wasm.allocate(source, offset === 0 ? target : end);
      const from = wasm.copyIn(source, s);
      const to = offset === 0 ? wasm.placeFor(target, t) : t;
      if (codecsIn(wasm).lz4Decode(from, from + source.length, to, to + end, 1) !== end) return false;
      wasm.fetch(target, to + offset, target.length);
      return true;
    },
  };
}

/**
 * Decodes a part of a block that does not fit in the memory of the kernels, after decoding all bytes before that part.
 */
function decodeLargePart(source: Uint8Array, target: Uint8Array, offset: number): boolean {
  const end = offset + target.length;
  const prefix = offset === 0 ? target : new Uint8Array(end);
  if (lz4Decode(source, 0, source.length, prefix, 0, end, true) !== end) return false;
  if (prefix !== target) target.set(prefix.subarray(offset));
  return true;
}

/** The levels that the kernels have searches for. Levels below take longer steps with the first search. */
export const ZSTD_KERNEL_LEVELS = { least: 1, most: 9 } as const;

/** Encodes whole frames of zstd, then copies them to the target: encoding needs more room than the target has. */
export function wasmZstdEncoder(wasm: WasmMemory): ZstdEncoderKernels {
  return {
    maxSize: MAX_MEMORY,
    levels: ZSTD_KERNEL_LEVELS,

    encode(source, target, level, checksum) {
      const [s = 0, to = 0] = wasm.allocate(source, zstdRoom(source.length));
      const from = wasm.copyIn(source, s);
      const known = Math.min(level, ZSTD_KERNEL_LEVELS.most);
      const size = codecsIn(wasm).zstdEncode(from, from + source.length, to, known, Number(checksum));
      if (size > target.length) return 0;
      target.set(wasm.bytes.subarray(to, to + size));
      return size;
    },
  };
}
