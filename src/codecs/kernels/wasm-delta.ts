import type { DeltaKernels, NumberFormat } from "./kernel-types.ts";
import { codecsIn } from "./wasm-codecs.ts";
import { isWhole, PIECE, type WasmMemory } from "./wasm-memory.ts";

/** Formats in the order of their numbers. */
const NUMBER_FORMATS: readonly NumberFormat[] = ["i8", "i16", "i32", "i64", "f32", "f64"];
/** Room before a piece for the previous number: a whole cache line, so that the piece is aligned to one. */
const BEFORE = 64;

export function wasmDelta(wasm: WasmMemory): DeltaKernels {
  return {
    // Both directions keep the first number, and each piece includes the number before it.
    deltaEncode(source, target, format) {
      const size = sizeOf(format);
      const [room = 0, to = 0] = wasm.allocate(BEFORE + PIECE, PIECE);
      const from = room + BEFORE;
      target.set(source.subarray(0, size));
      if (wasm.holds(source) && wasm.holds(target) && isWhole(source.length - size)) {
        const { deltaEncode } = codecsIn(wasm);
        deltaEncode(
          source.byteOffset + size,
          target.byteOffset + size,
          source.length - size,
          NUMBER_FORMATS.indexOf(format),
        );
        return;
      }
      for (let start = size; start < source.length; start += PIECE) {
        const piece = source.subarray(start - size, start + PIECE);
        const length = piece.length - size;
        wasm.bytes.set(piece, from - size);
        codecsIn(wasm).deltaEncode(from, to, length, NUMBER_FORMATS.indexOf(format));
        target.set(wasm.bytes.subarray(to, to + length), start);
      }
    },

    deltaDecode(bytes, format) {
      const size = sizeOf(format);
      const [room = 0] = wasm.allocate(BEFORE + PIECE);
      const at = room + BEFORE;
      if (wasm.holds(bytes) && isWhole(bytes.length - size)) {
        codecsIn(wasm).deltaDecode(
          bytes.byteOffset + size,
          bytes.length - size,
          NUMBER_FORMATS.indexOf(format),
        );
        return;
      }
      for (let start = size; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start - size, start + PIECE);
        wasm.bytes.set(piece, at - size);
        codecsIn(wasm).deltaDecode(at, piece.length - size, NUMBER_FORMATS.indexOf(format));
        piece.set(wasm.bytes.subarray(at - size, at - size + piece.length));
      }
    },
  };
}

function sizeOf(format: NumberFormat): number {
  return Number(format.slice(1)) / 8;
}
