import type { HeapBoxes, Kernels, NumberFormat } from "./kernel-types.ts";
import { lz4Decode, lz4Encode } from "./lz4-block.ts";
import { wasmBlocks } from "./wasm-blocks.ts";
import { MAX_MEMORY, PIECE, WasmMemory } from "./wasm-memory.ts";
import { wasmTranspose } from "./wasm-transpose.ts";
import { wasmZstd } from "./wasm-zstd.ts";

/** Larger items leave too few in a piece: they are shuffled byte by byte. */
const LARGE_ITEM = 64;

/** In the order of their numbers. */
const NUMBER_FORMATS: readonly NumberFormat[] = ["i8", "i16", "i32", "i64", "f32", "f64"];
/** Room in front of a piece for the number before it; a line of cache, so that the piece lies at the begin of one. */
const BEFORE = 64;

/** @throws where WebAssembly or its SIMD is missing or blocked. */
export function createWasmKernels(): Kernels {
  const wasm = new WasmMemory();
  return {
    shuffle(source, target, itemSize) {
      const items = Math.floor(source.length / itemSize);
      if (items < 2 || itemSize > LARGE_ITEM) return shuffleBytes(source, target, items, itemSize);
      const most = Math.floor(PIECE / itemSize);
      const [from = 0, to = 0] = wasm.allocate(PIECE, PIECE);
      const whole = items * itemSize;
      if (wasm.holds(source) && wasm.holds(target)) {
        wasm.exports.shuffle(source.byteOffset, target.byteOffset, items, itemSize, items);
        target.set(source.subarray(whole), whole);
        return;
      }
      for (let first = 0; first < items; first += most) {
        const count = Math.min(most, items - first);
        wasm.bytes.set(source.subarray(first * itemSize, (first + count) * itemSize), from);
        wasm.exports.shuffle(from, to, count, itemSize, count);
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
        wasm.exports.unshuffle(source.byteOffset, target.byteOffset, items, itemSize, items);
        target.set(source.subarray(whole), whole);
        return;
      }
      for (let first = 0; first < items; first += most) {
        const count = Math.min(most, items - first);
        for (let plane = 0; plane < itemSize; plane++) {
          const start = plane * items + first;
          wasm.bytes.set(source.subarray(start, start + count), from + plane * count);
        }
        wasm.exports.unshuffle(from, to, count, itemSize, count);
        target.set(wasm.bytes.subarray(to, to + count * itemSize), first * itemSize);
      }
      target.set(source.subarray(whole), whole);
    },

    lz4Encode(source, target, acceleration) {
      if (source.length + target.length > MAX_MEMORY) {
        return lz4Encode(source, 0, source.length, target, 0, target.length, acceleration);
      }
      const [s = 0, t = 0] = wasm.allocate(source, target);
      const from = wasm.copyIn(source, s);
      const to = wasm.placeFor(target, t);
      const end = from + source.length;
      const size = wasm.exports.lz4Encode(from, end, to, to + target.length, acceleration);
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
      const size = wasm.exports.lz4Decode(from, from + source.length, to, to + target.length, 0);
      if (size > 0) wasm.fetch(target, to, size);
      return size;
    },

    lz4DecodePart(source, target, offset) {
      const end = offset + target.length;
      if (source.length + end > MAX_MEMORY) return decodeLargePart(source, target, offset);
      const [s = 0, t = 0] = wasm.allocate(source, offset === 0 ? target : end);
      const from = wasm.copyIn(source, s);
      const to = offset === 0 ? wasm.placeFor(target, t) : t;
      if (wasm.exports.lz4Decode(from, from + source.length, to, to + end, 1) !== end) return false;
      wasm.fetch(target, to + offset, target.length);
      return true;
    },

    swapBytes(bytes, unit) {
      const [at = 0] = wasm.allocate(PIECE);
      if (wasm.holds(bytes) && isWhole(bytes.length)) {
        wasm.exports.swapBytes(bytes.byteOffset, bytes.length, unit);
        return;
      }
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        wasm.bytes.set(piece, at);
        wasm.exports.swapBytes(at, piece.length, unit);
        piece.set(wasm.bytes.subarray(at, at + piece.length));
      }
    },

    // In both, the first number stays as it is, and each piece takes the number before it along.
    deltaEncode(source, target, format) {
      const size = sizeOf(format);
      const [room = 0, to = 0] = wasm.allocate(BEFORE + PIECE, PIECE);
      const from = room + BEFORE;
      target.set(source.subarray(0, size));
      if (wasm.holds(source) && wasm.holds(target) && isWhole(source.length - size)) {
        const { deltaEncode } = wasm.exports;
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
        wasm.exports.deltaEncode(from, to, length, NUMBER_FORMATS.indexOf(format));
        target.set(wasm.bytes.subarray(to, to + length), start);
      }
    },

    deltaDecode(bytes, format) {
      const size = sizeOf(format);
      const [room = 0] = wasm.allocate(BEFORE + PIECE);
      const at = room + BEFORE;
      if (wasm.holds(bytes) && isWhole(bytes.length - size)) {
        wasm.exports.deltaDecode(
          bytes.byteOffset + size,
          bytes.length - size,
          NUMBER_FORMATS.indexOf(format),
        );
        return;
      }
      for (let start = size; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start - size, start + PIECE);
        wasm.bytes.set(piece, at - size);
        wasm.exports.deltaDecode(at, piece.length - size, NUMBER_FORMATS.indexOf(format));
        piece.set(wasm.bytes.subarray(at - size, at - size + piece.length));
      }
    },

    crc32c(bytes) {
      const [at = 0] = wasm.allocate(PIECE);
      if (wasm.holds(bytes)) return ~wasm.exports.crc32c(-1, bytes.byteOffset, bytes.length) >>> 0;
      let crc = -1;
      for (let start = 0; start < bytes.length; start += PIECE) {
        const piece = bytes.subarray(start, start + PIECE);
        wasm.bytes.set(piece, at);
        crc = wasm.exports.crc32c(crc, at, piece.length);
      }
      return ~crc >>> 0;
    },

    transpose: wasmTranspose(wasm),
    blocks: wasmBlocks(wasm),
    zstd: wasmZstd(wasm),

    heapBoxes: wasmHeapBoxes(wasm),
    copyRowsOf: (source, target) => wasm.inHeap(source, target)?.copyRows,

    openHeap() {
      const heap = wasm.openHeap();
      return heap && { heap, close: () => wasm.closeHeap() };
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

/** Of a block that the kernels' memory has no room for: decodes all that lies before the part, too. */
function decodeLargePart(source: Uint8Array, target: Uint8Array, offset: number): boolean {
  const end = offset + target.length;
  const prefix = offset === 0 ? target : new Uint8Array(end);
  if (lz4Decode(source, 0, source.length, prefix, 0, end, true) !== end) return false;
  if (prefix !== target) target.set(prefix.subarray(offset));
  return true;
}

function sizeOf(format: NumberFormat): number {
  return Number(format.slice(1)) / 8;
}

/** Whether what works in place, 16 bytes a step, touches nothing behind so many bytes. */
function isWhole(length: number): boolean {
  return length > 0 && length % 16 === 0;
}

/** Targets that are copied to in one call. */
const MAX_TARGETS = 1024;

/** Boxes are laid out one after the other, the source first. */
function wasmHeapBoxes(wasm: WasmMemory): HeapBoxes {
  return {
    holds: (bytes) => wasm.inHeap(bytes, bytes) !== undefined,
    copyShared(source, targets, itemSize) {
      const { length, byteLength } = source;
      const rank = (length - 1) / 3;
      const most = MAX_TARGETS * length;
      for (let first = 0; first < targets.length; first += most) {
        const some = targets.length > most ? targets.subarray(first, first + most) : targets;
        const [at = 0] = wasm.allocate(byteLength + some.byteLength);
        const boxes = new Float64Array(wasm.bytes.buffer, at, length + some.length);
        boxes.set(source);
        boxes.set(some, length);
        wasm.exports.copyShared(at, at + byteLength, some.length / length, rank, itemSize);
      }
    },
  };
}
