import type { CopyRows, HeapBox } from "./kernel-types.ts";
import { kernels } from "./kernels.ts";

/** A box in a buffer of items: the offset of its first item and the distances between neighbors, all in items. */
export interface BoxLayout {
  readonly offset: number;
  readonly strides: readonly number[];
}

/** Items that are not made of aligned 4-byte words. Never floats: copying through them may change the bits of a NaN. */
type SmallItems = Uint8Array | Uint16Array;

/** From this many bytes on, memmove is faster than a loop over items. */
const LONG_RUN_BYTES = 256;
/** Words of the widest item that is moved word by word. */
const WIDE_ITEM = 4;
/** Items per side of a tile. */
const TILE = 32;

/**
 * The loops of the current copy, innermost first: the number of steps, and the words of a step on either side. Boxes
 * are often small and many, so calls reuse these arrays.
 */
const counts: number[] = [];
const fromSteps: number[] = [];
const toSteps: number[] = [];

const wordViews = new WeakMap<Uint8Array, Uint32Array>();

/**
 * Copies a box of items between two buffers. Treats an item as `itemSize` bytes and never looks at its value.
 *
 * @param shape shape of the box in items
 */
export function copyBox(
  source: Uint8Array,
  from: BoxLayout,
  target: Uint8Array,
  to: BoxLayout,
  shape: readonly number[],
  itemSize: number,
): void {
  if (itemSize === 0) return;
  const word = wordSize(source, target, itemSize);
  const scale = itemSize / word;
  const depth = findLoops(shape, from.strides, to.strides, scale);
  if (depth === 0) return;
  const s = from.offset * scale;
  const t = to.offset * scale;
  if (copyPlane(source, s, target, t, depth, word)) return;
  const copyRows = isRun() ? kernels().copyRowsOf(source, target) : undefined;
  if (copyRows) {
    copyInHeap(copyRows, source.byteOffset + s * word, target.byteOffset + t * word, depth - 1, word);
  } else if (word === 4) copyWords(wordsOf(source), s, wordsOf(target), t, depth - 1);
  else copyLoops(view(source, word), s, view(target, word), t, depth - 1);
}

/**
 * Lets a kernel transpose if the loops form one plane without gaps, with rows on one side and columns on the other.
 *
 * @returns true if it did
 */
function copyPlane(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  depth: number,
  word: number,
): boolean {
  const inner = isRun() ? 1 : 0;
  if (depth !== inner + 2) return false;
  const width = isRun() ? (counts[0] as number) : 1;
  const columns = fromSteps[inner] === width ? inner : inner + 1;
  const rows = 2 * inner + 1 - columns;
  const columnCount = counts[columns] as number;
  const rowCount = counts[rows] as number;
  const isWhole = fromSteps[columns] === width && fromSteps[rows] === columnCount * width;
  const isTurned = toSteps[rows] === width && toSteps[columns] === rowCount * width;
  if (!isWhole || !isTurned) return false;
  const { transpose } = kernels();
  if (!transpose) return false;
  const size = rowCount * columnCount * width * word;
  const rowsAsTheyLie = partOf(source, from * word, size);
  return transpose(rowsAsTheyLie, partOf(target, to * word, size), rowCount, columnCount, width * word);
}

/** Returns the view itself if possible, because creating another takes as long as a small copy. */
function partOf(bytes: Uint8Array, start: number, length: number): Uint8Array {
  return start === 0 && length === bytes.length ? bytes : bytes.subarray(start, start + length);
}

/** Sets every item of a box to the bytes of `item`, or to zeros if it is null. */
export function fillBox(
  target: Uint8Array,
  to: BoxLayout,
  shape: readonly number[],
  itemSize: number,
  item: Uint8Array | null,
): void {
  const none = shape.map(() => 0);
  copyBox(item ?? new Uint8Array(itemSize), { offset: 0, strides: none }, target, to, shape, itemSize);
}

/**
 * Converts the box to nested loops. Leaves out loops of one step and merges loops that are contiguous on both sides.
 *
 * @param scale words per item
 * @returns the number of loops; 0 if the box has no items.
 */
function findLoops(
  shape: readonly number[],
  from: readonly number[],
  to: readonly number[],
  scale: number,
): number {
  let depth = scale > 1 ? addLoop(0, scale, 1, 1) : 0;
  for (let d = shape.length - 1; d >= 0; d--) {
    const count = shape[d] ?? 0;
    if (count === 0) return 0;
    if (count > 1) depth = addLoop(depth, count, (from[d] ?? 0) * scale, (to[d] ?? 0) * scale);
  }
  return depth > 0 ? depth : addLoop(0, 1, 1, 1);
}

/**
 * Adds an outermost loop, or extends the outermost one if the steps continue it.
 *
 * @returns the number of loops.
 */
function addLoop(depth: number, count: number, fromStep: number, toStep: number): number {
  if (depth > 0) {
    const inner = depth - 1;
    const innerCount = counts[inner] as number;
    const fromEnd = innerCount * (fromSteps[inner] as number);
    if (fromStep === fromEnd && toStep === innerCount * (toSteps[inner] as number)) {
      counts[inner] = innerCount * count;
      return depth;
    }
  }
  counts[depth] = count;
  fromSteps[depth] = fromStep;
  toSteps[depth] = toStep;
  return depth + 1;
}

/** The widest word, in bytes, that divides the item and matches the alignment of both buffers. */
function wordSize(source: Uint8Array, target: Uint8Array, itemSize: number): 1 | 2 | 4 {
  const bits = itemSize | source.byteOffset | target.byteOffset;
  if (bits % 4 === 0) return 4;
  return bits % 2 === 0 ? 2 : 1;
}

/** Creates the word view of a buffer once, because creating a view takes as long as copying a small box. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const known = wordViews.get(bytes);
  if (known) return known;
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  wordViews.set(bytes, words);
  return words;
}

function view(bytes: Uint8Array, word: 1 | 2): SmallItems {
  return word === 1 ? bytes : new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 1);
}

/** Copies runs between two buffers in the memory of the kernels, as many in one call as the kernel supports. */
function copyInHeap(copyRows: CopyRows, source: number, target: number, depth: number, word: number): void {
  if (depth > 2) {
    const { count, from, to } = loopAt(depth);
    for (let i = 0; i < count; i++)
      copyInHeap(copyRows, source + i * from * word, target + i * to * word, depth - 1, word);
    return;
  }
  const length = (counts[0] ?? 0) * word;
  const rows = depth > 0 ? (counts[1] ?? 0) : 1;
  const planes = depth > 1 ? (counts[2] ?? 0) : 1;
  const [fromRow, toRow] = [(fromSteps[1] ?? 0) * word, (toSteps[1] ?? 0) * word];
  const [fromPlane, toPlane] = [(fromSteps[2] ?? 0) * word, (toSteps[2] ?? 0) * word];
  copyRows(source, target, length, rows, fromRow, toRow, planes, fromPlane, toPlane);
}

/** As `copyLoops`, but for words only: code that sees one kind of array runs several times faster. */
function copyWords(source: Uint32Array, from: number, target: Uint32Array, to: number, depth: number): void {
  const width = isRun() ? (counts[0] ?? 0) : WIDE_ITEM + 1;
  if (depth === 2 && width <= WIDE_ITEM && turns(2)) {
    transposeTiles(source, from, target, to, [loopAt(1), loopAt(2)], width);
  } else if (depth === 1 && turns(1)) {
    transposeTiles(source, from, target, to, [loopAt(0), loopAt(1)], 1);
  } else if (depth === 1) {
    copyRuns(source, from, target, to, counts[1] ?? 0, fromSteps[1] ?? 0, toSteps[1] ?? 0);
  } else if (depth === 0) {
    copyRuns(source, from, target, to, 1, 0, 0);
  } else {
    const { count, from: fromStep, to: toStep } = loopAt(depth);
    for (let i = 0; i < count; i++) {
      copyWords(source, from + i * fromStep, target, to + i * toStep, depth - 1);
    }
  }
}

function loopAt(depth: number): Loop {
  return { count: counts[depth] ?? 0, from: fromSteps[depth] ?? 0, to: toSteps[depth] ?? 0 };
}

/** True if the innermost loop visits neighbors on both sides. */
function isRun(): boolean {
  return fromSteps[0] === 1 && toSteps[0] === 1;
}

/** True if the loop at `depth` and the loop within it have opposite orders of step size on the two sides. */
function turns(depth: number): boolean {
  const outer = loopAt(depth);
  const inner = loopAt(depth - 1);
  return outer.from < inner.from !== outer.to < inner.to;
}

/** Runs the innermost loop `rows` times. */
function copyRuns(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  rows: number,
  fromRow: number,
  toRow: number,
): void {
  const count = counts[0] ?? 0;
  const fromStep = fromSteps[0] ?? 0;
  const toStep = toSteps[0] ?? 0;
  if (isRun() && 4 * count >= LONG_RUN_BYTES) {
    for (let row = 0; row < rows; row++) {
      const start = from + row * fromRow;
      target.set(source.subarray(start, start + count), to + row * toRow);
    }
    return;
  }
  for (let row = 0; row < rows; row++) {
    let s = from + row * fromRow;
    let t = to + row * toRow;
    let i = 0;
    if (isRun()) {
      for (; i + 8 <= count; i += 8, s += 8, t += 8) {
        target[t] = source[s] as number;
        target[t + 1] = source[s + 1] as number;
        target[t + 2] = source[s + 2] as number;
        target[t + 3] = source[s + 3] as number;
        target[t + 4] = source[s + 4] as number;
        target[t + 5] = source[s + 5] as number;
        target[t + 6] = source[s + 6] as number;
        target[t + 7] = source[s + 7] as number;
      }
    }
    for (; i < count; i++, s += fromStep, t += toStep) target[t] = source[s] as number;
  }
}

/** Copies items that are not words. */
function copyLoops(source: SmallItems, from: number, target: SmallItems, to: number, depth: number): void {
  const { count, from: fromStep, to: toStep } = loopAt(depth);
  if (depth > 1 || (depth === 1 && !turns(1))) {
    for (let i = 0; i < count; i++) {
      copyLoops(source, from + i * fromStep, target, to + i * toStep, depth - 1);
    }
  } else if (depth === 1) {
    copyTurned(source, from, target, to);
  } else if (isRun() && count * source.BYTES_PER_ELEMENT >= LONG_RUN_BYTES) {
    target.set(source.subarray(from, from + count), to);
  } else {
    for (let i = 0, s = from, t = to; i < count; i++, s += fromStep, t += toStep) {
      target[t] = source[s] as number;
    }
  }
}

/** Copies rows to columns, tile by tile. */
function copyTurned(source: SmallItems, from: number, target: SmallItems, to: number): void {
  const [columns = 0, rows = 0] = counts;
  const [fromColumn = 0, fromRow = 0] = fromSteps;
  const [toColumn = 0, toRow = 0] = toSteps;
  for (let row0 = 0; row0 < rows; row0 += TILE) {
    const rowEnd = Math.min(row0 + TILE, rows);
    for (let column0 = 0; column0 < columns; column0 += TILE) {
      const columnEnd = Math.min(column0 + TILE, columns);
      for (let row = row0; row < rowEnd; row++) {
        let s = from + row * fromRow + column0 * fromColumn;
        let t = to + row * toRow + column0 * toColumn;
        for (let column = column0; column < columnEnd; column++, s += fromColumn, t += toColumn) {
          target[t] = source[s] as number;
        }
      }
    }
  }
}

/**
 * Describes the items of a region of an array in a buffer, for a kernel that copies to many boxes in one call.
 *
 * @param layout layout of the region; `offset` is the position of its first item.
 * @returns undefined if no kernel supports this buffer, or if strides increase from one dimension to the next.
 *   Transposing such rows to columns has a faster method.
 */
export function heapBox(
  bytes: Uint8Array,
  region: { readonly start: readonly number[]; readonly shape: readonly number[] },
  { offset, strides }: BoxLayout,
  itemSize: number,
): HeapBox | undefined {
  if (itemSize === 0 || !kernels().heapBoxes.holds(bytes)) return undefined;
  const rank = strides.length;
  const box = new Float64Array(1 + 3 * rank);
  box[0] = bytes.byteOffset + offset * itemSize;
  let outer = Number.POSITIVE_INFINITY;
  for (let d = 0; d < rank; d++) {
    const stride = strides[d] ?? 0;
    const start = region.start[d] ?? 0;
    if (stride > outer) return undefined;
    outer = stride;
    box[3 * d + 1] = start;
    box[3 * d + 2] = start + (region.shape[d] ?? 0);
    box[3 * d + 3] = stride * itemSize;
  }
  return box;
}

/** Copies the items that `source` shares with each of `targets`, which are consecutive boxes of the same rank. */
export function copyShared(source: HeapBox, targets: HeapBox, itemSize: number): void {
  kernels().heapBoxes.copyShared(source, targets, itemSize);
}

/** One loop of a copy: the number of steps, and the words of a step on either side. */
export interface Loop {
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

/** Items per side of a tile. */
const TRANSPOSED = 32;

/**
 * Copies items of `width` words so that rows become columns. Works tile by tile, so that the cache lines of a tile are
 * reused while they are in the cache.
 */
export function transposeTiles(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  loops: readonly [Loop, Loop],
  width: number,
): void {
  // `along` visits neighbors in the source, `across` neighbors in the target.
  const [along, across] = loops[0].from < loops[1].from ? loops : [loops[1], loops[0]];
  for (let a = 0; a < along.count; a += TRANSPOSED) {
    const columns = Math.min(TRANSPOSED, along.count - a);
    for (let b = 0; b < across.count; b += TRANSPOSED) {
      const rows = Math.min(TRANSPOSED, across.count - b);
      const s = from + a * along.from + b * across.from;
      const t = to + a * along.to + b * across.to;
      for (let word = 0; word < width; word++) {
        turnTile(source, s + word, target, t + word, along, columns, across, rows);
      }
    }
  }
}

/** Copies one word of each item: four rows at a time, column by column. */
function turnTile(
  source: Uint32Array,
  from: number,
  target: Uint32Array,
  to: number,
  along: Loop,
  columns: number,
  across: Loop,
  rows: number,
): void {
  const { from: fromColumn, to: toColumn } = along;
  const { from: fromRow, to: toRow } = across;
  let row = 0;
  for (; row + 4 <= rows; row += 4) {
    let s = from + row * fromRow;
    let t = to + row * toRow;
    for (let column = 0; column < columns; column++, s += fromColumn, t += toColumn) {
      target[t] = source[s] as number;
      target[t + toRow] = source[s + fromRow] as number;
      target[t + 2 * toRow] = source[s + 2 * fromRow] as number;
      target[t + 3 * toRow] = source[s + 3 * fromRow] as number;
    }
  }
  for (; row < rows; row++) {
    let s = from + row * fromRow;
    let t = to + row * toRow;
    for (let column = 0; column < columns; column++, s += fromColumn, t += toColumn) {
      target[t] = source[s] as number;
    }
  }
}
