import type { Lz4Kernels } from "./kernel-types.ts";
import { lz4Decode, lz4Encode } from "./lz4-block.ts";
import { codecsIn } from "./wasm-codecs.ts";
import { MAX_MEMORY, type WasmMemory } from "./wasm-memory.ts";

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

/** Decodes a part of a block that does not fit in the memory of the kernels, including all bytes before the part. */
function decodeLargePart(source: Uint8Array, target: Uint8Array, offset: number): boolean {
  const end = offset + target.length;
  const prefix = offset === 0 ? target : new Uint8Array(end);
  if (lz4Decode(source, 0, source.length, prefix, 0, end, true) !== end) return false;
  if (prefix !== target) target.set(prefix.subarray(offset));
  return true;
}
