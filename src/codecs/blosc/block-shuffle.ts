import { joinBits, splitBits } from "../kernels/bit-shuffle.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { wasmShuffle } from "../kernels/wasm-shuffle.ts";
import type { Shuffle } from "./frame.ts";

const shuffleKernels = kernelsOfThread(wasmShuffle);

/** Larger working buffers are not kept. */
const MAX_KEPT = 4 * 1024 * 1024;
const kept: Uint8Array[] = [];

/** A working buffer of at least `size` bytes; `which` distinguishes buffers that are in use at the same time. */
export function workingBuffer(which: 0 | 1 | 2, size: number): Uint8Array {
  const buffer = kept[which];
  if (buffer && buffer.length >= size) return buffer;
  const larger = new Uint8Array(size);
  if (size <= MAX_KEPT) kept[which] = larger;
  return larger;
}

/**
 * The shuffle applied to a block of `length` bytes: none for single bytes, and no bit shuffle unless the number of
 * items is a multiple of 8.
 */
export function shuffleOfBlock(shuffleMode: Shuffle, length: number, typeSize: number): Shuffle {
  if (shuffleMode === "shuffle") return typeSize > 1 ? "shuffle" : "noshuffle";
  if (shuffleMode === "noshuffle") return "noshuffle";
  const items = Math.floor(length / typeSize);
  return items > 0 && items % 8 === 0 ? "bitshuffle" : "noshuffle";
}

/** Shuffles the block of `source` at `start` to the beginning of `target`. */
export function shuffleBlock(
  mode: Shuffle,
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  length: number,
  typeSize: number,
): void {
  const { shuffle } = shuffleKernels();
  const block = source.subarray(start, start + length);
  if (mode === "shuffle") {
    shuffle(block, target, typeSize);
    return;
  }
  const planes = workingBuffer(1, length);
  const items = Math.floor(length / typeSize);
  shuffle(block, planes, typeSize);
  splitBits(planes, 0, target, 0, typeSize, items);
  const whole = items * typeSize;
  target.set(planes.subarray(whole, length), whole);
}

/**
 * Reverses `shuffleBlock` for the `length` bytes at the beginning of `source` and fills `target` with the result from
 * `offset` on.
 */
export function unshuffleBlock(
  mode: Shuffle,
  source: Uint8Array,
  target: Uint8Array,
  length: number,
  typeSize: number,
  offset: number,
): void {
  const items = Math.floor(length / typeSize);
  const isWhole = target.length === length;
  if (mode === "shuffle" && !isWhole && offset % typeSize === 0 && target.length % typeSize === 0) {
    unshuffleItems(source, items, target, offset / typeSize, typeSize);
    return;
  }
  const { unshuffle } = shuffleKernels();
  const block = isWhole ? target : workingBuffer(2, length).subarray(0, length);
  if (mode === "shuffle") unshuffle(source.subarray(0, length), block, typeSize);
  else {
    const planes = workingBuffer(1, length);
    const whole = items * typeSize;
    joinBits(source, 0, planes, 0, typeSize, items);
    planes.set(source.subarray(whole, length), whole);
    unshuffle(planes.subarray(0, length), block, typeSize);
  }
  if (!isWhole) target.set(block.subarray(offset, offset + target.length));
}

/** Fills `target` with the items from `first` on, given byte planes of `items` bytes each. */
function unshuffleItems(
  source: Uint8Array,
  items: number,
  target: Uint8Array,
  first: number,
  typeSize: number,
): void {
  const count = target.length / typeSize;
  const planes = workingBuffer(1, target.length).subarray(0, target.length);
  for (let plane = 0; plane < typeSize; plane++) {
    const start = plane * items + first;
    planes.set(source.subarray(start, start + count), plane * count);
  }
  shuffleKernels().unshuffle(planes, target, typeSize);
}
