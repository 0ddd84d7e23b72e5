import type { TransposeKernel } from "./kernel-types.ts";
import { PIECE, type WasmMemory } from "./wasm-memory.ts";

/** Fewer bytes are moved before they would be copied in, and more fall out of the nearer caches. */
const MIN_SIZE = 512;
const MAX_SIZE = 4 * 1024 * 1024;
/** Columns that the kernel goes through together. */
const BLOCK = 16;

/** Copied in as a whole; as many columns as are a piece leave at a time, as rows. */
export function wasmTranspose(wasm: WasmMemory): TransposeKernel {
  return (source, target, rows, columns, itemSize) => {
    const size = rows * columns * itemSize;
    const isTaken = itemSize === 1 || itemSize === 2 || itemSize === 4 || itemSize === 8;
    if (!isTaken || size < MIN_SIZE || size > MAX_SIZE) return false;
    if (Math.min(rows, columns) * itemSize < 16) return false;
    const sourceStep = columns * itemSize;
    const targetStep = rows * itemSize;
    const most = Math.max(BLOCK, Math.floor(PIECE / targetStep) & -BLOCK);
    const [room = 0, to = 0] = wasm.allocate(source, Math.min(size, (most + BLOCK) * targetStep));
    const from = wasm.copyIn(source, room);
    for (let first = 0; first < columns; ) {
      // The last columns, where fewer than a tile, go with those before.
      const left = columns - first;
      const count = left < most + BLOCK ? left : most;
      wasm.exports.transpose(from + first * itemSize, to, rows, count, itemSize, sourceStep, targetStep);
      target.set(wasm.bytes.subarray(to, to + count * targetStep), first * targetStep);
      first += count;
    }
    return true;
  };
}
