import type { DeltaKernels, NumberFormat, ShuffleKernels } from "./kernel-types.ts";
import { kernelsOfThread } from "./kernels.ts";
import { codecsIn } from "./wasm-codecs.ts";
import { isWholeSteps, PIECE, type WasmMemory } from "./wasm-memory.ts";

/** Larger items are shuffled byte by byte, because a piece holds too few of them. */
const LARGE_ITEM = 64;

/** The shuffle kernels of this thread. */
export const shuffleKernels = kernelsOfThread(wasmShuffle);

export function wasmShuffle(wasm: WasmMemory): ShuffleKernels {
  return {
    shuffle(source, target, itemSize) {
      const items = Math.floor(source.length / itemSize);
      if (items < 2 || itemSize > LARGE_ITEM) return shuffleBytes(source, target, items, itemSize);
      const most = Math.floor(PIECE / itemSize);
      const [from = 0, to = 0] = wasm.allocate(PIECE, PIECE);
      const whole = items * itemSize;
      if (wasm.holds(source) && wasm.holds(target)) {
        codecsIn(wasm).shuffle(source.byteOffset, target.byteOffset, items, itemSize, items);
        target.set(source.subarray(whole), whole);
        return;
      }
      for (let first = 0; first < items; first += most) {
        const count = Math.min(most, items - first);
        wasm.bytes.set(source.subarray(first * itemSize, (first + count) * itemSize), from);
        codecsIn(wasm).shuffle(from, to, count, itemSize, count);
        for (let plane = 0; plane < itemSize; plane++) {
          const start = to + plane * count;
          target.set(wasm.bytes.subarray(start, start + count), plane * items + first);
        }
      }
      target.set(source.subarray(whole), whole);
    },

    unshuffle(source, target, itemSize) {
      const items = Math.floor(source.length / itemSize);
      if (items < 2 || itemSize > LARGE_ITEM) return unshuffleBytes(source, target, items, itemSize);
      const most = Math.floor(PIECE / itemSize);
      const [from = 0, to = 0] = wasm.allocate(PIECE, PIECE);
      const whole = items * itemSize;
      if (wasm.holds(source) && wasm.holds(target)) {
        codecsIn(wasm).unshuffle(source.byteOffset, target.byteOffset, items, itemSize, items);
        target.set(source.subarray(whole), whole);
        return;
      }
      for (let first = 0; first < items; first += most) {
        const count = Math.min(most, items - first);
        for (let plane = 0; plane < itemSize; plane++) {
          const start = plane * items + first;
          wasm.bytes.set(source.subarray(start, start + count), from + plane * count);
        }
        codecsIn(wasm).unshuffle(from, to, count, itemSize, count);
        target.set(wasm.bytes.subarray(to, to + count * itemSize), first * itemSize);
      }
      target.set(source.subarray(whole), whole);
    },
  };
}

function shuffleBytes(source: Uint8Array, target: Uint8Array, items: number, itemSize: number): void {
  const whole = items * itemSize;
  for (let item = 0, s = 0; s < whole; item++) {
    for (let t = item; t < whole; t += items) target[t] = source[s++] as number;
  }
  target.set(source.subarray(whole), whole);
}

function unshuffleBytes(source: Uint8Array, target: Uint8Array, items: number, itemSize: number): void {
  const whole = items * itemSize;
  for (let item = 0, t = 0; t < whole; item++) {
    for (let s = item; s < whole; s += items) target[t++] = source[s] as number;
  }
  target.set(source.subarray(whole), whole);
}

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
      if (wasm.holds(source) && wasm.holds(target) && isWholeSteps(source.length - size)) {
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
      if (wasm.holds(bytes) && isWholeSteps(bytes.length - size)) {
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
