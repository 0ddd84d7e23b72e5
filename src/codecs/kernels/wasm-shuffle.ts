import type { ShuffleKernels } from "./kernel-types.ts";
import { codecsIn } from "./wasm-codecs.ts";
import { PIECE, type WasmMemory } from "./wasm-memory.ts";

/** Larger items are shuffled byte by byte, because a piece holds too few of them. */
const LARGE_ITEM = 64;

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
