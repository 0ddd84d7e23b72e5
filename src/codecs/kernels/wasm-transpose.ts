import type { TransposeKernel } from "./kernel-types.ts";
import { PIECE, type WasmMemory } from "./wasm-memory.ts";

/** Smaller arrays are moved faster than they could be copied in; larger ones exceed the nearer caches. */
const MIN_SIZE = 512;
const MAX_SIZE = 4 * 1024 * 1024;
/** Columns that the kernel processes together. */
const BLOCK = 16;

/** Copies the source in as a whole, and the target out in pieces of columns, which are rows of the target. */
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
      // If the last columns are fewer than a block, they join the columns before.
      const left = columns - first;
      const count = left < most + BLOCK ? left : most;
      wasm.exports.transpose(from + first * itemSize, to, rows, count, itemSize, sourceStep, targetStep);
      target.set(wasm.bytes.subarray(to, to + count * targetStep), first * targetStep);
      first += count;
    }
    return true;
  };
}
