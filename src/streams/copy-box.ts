/** A box inside a buffer of items: where its first item lies and how far apart neighbours are, all in items. */
export interface BoxLayout {
  readonly offset: number;
  readonly strides: readonly number[];
}

/** Integer words only: a copy through floats may change the bits of a NaN. */
type Items = Uint8Array | Uint16Array | Uint32Array;

interface Loop {
  readonly count: number;
  readonly from: number;
  readonly to: number;
}

/** From this many bytes on a memmove beats a loop over items. */
const LONG_RUN_BYTES = 128;
/** Items on a side of a tile. */
const TILE = 16;

/**
 * Copies a box of items between two buffers. Values are never looked at: an item is `itemSize` bytes.
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
  const loops = mergeLoops(shape, from.strides, to.strides);
  if (loops === undefined || itemSize === 0) return;
  const word = wordSize(source, target, itemSize);
  const scale = itemSize / word;
  const wide =
    scale === 1 ? loops : [...loops.map((l) => scaled(l, scale)), { count: scale, from: 1, to: 1 }];
  const merged = scale === 1 ? wide : mergeInner(wide);
  copyLoops(view(source, word), from.offset * scale, view(target, word), to.offset * scale, merged, 0);
}

/** Sets every item of a box to `item` (its bytes; zero where null). */
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

/** Sets all of `target`, whole items without gaps, to `item` (zero where null). */
export function fillItems(target: Uint8Array, item: Uint8Array | null): void {
  const first = item?.[0] ?? 0;
  if (item === null || item.every((byte) => byte === first)) {
    target.fill(first);
    return;
  }
  target.set(item.subarray(0, target.length));
  for (let done = item.length; done < target.length; done *= 2)
    target.copyWithin(done, 0, Math.min(done, target.length - done));
}

/** The box as nested loops, outermost first: no loops of one, neighbours that are contiguous on both sides merged. */
function mergeLoops(
  shape: readonly number[],
  from: readonly number[],
  to: readonly number[],
): Loop[] | undefined {
  const loops: Loop[] = [];
  for (let d = 0; d < shape.length; d++) {
    const count = shape[d] ?? 0;
    if (count === 0) return undefined;
    if (count > 1) loops.push({ count, from: from[d] ?? 0, to: to[d] ?? 0 });
  }
  for (let d = loops.length - 1; d > 0; d--) {
    const inner = loops[d];
    const outer = loops[d - 1];
    if (!inner || !outer || outer.from !== inner.from * inner.count || outer.to !== inner.to * inner.count)
      continue;
    loops.splice(d - 1, 2, { count: outer.count * inner.count, from: inner.from, to: inner.to });
  }
  return loops.length > 0 ? loops : [{ count: 1, from: 1, to: 1 }];
}

function mergeInner(loops: Loop[]): Loop[] {
  return mergeLoops(
    loops.map((l) => l.count),
    loops.map((l) => l.from),
    loops.map((l) => l.to),
  ) as Loop[];
}

function scaled({ count, from, to }: Loop, scale: number): Loop {
  return { count, from: from * scale, to: to * scale };
}

/** The widest word, in bytes, that divides the item and fits the alignment of both buffers. */
function wordSize(source: Uint8Array, target: Uint8Array, itemSize: number): 1 | 2 | 4 {
  const bits = itemSize | source.byteOffset | target.byteOffset;
  if (bits % 4 === 0) return 4;
  return bits % 2 === 0 ? 2 : 1;
}

function view(bytes: Uint8Array, word: 1 | 2 | 4): Items {
  const { buffer, byteOffset } = bytes;
  const length = Math.floor(bytes.length / word);
  if (word === 4) return new Uint32Array(buffer, byteOffset, length);
  return word === 2 ? new Uint16Array(buffer, byteOffset, length) : bytes;
}

function copyLoops(
  source: Items,
  from: number,
  target: Items,
  to: number,
  loops: readonly Loop[],
  depth: number,
): void {
  const loop = loops[depth] as Loop;
  const inner = loops[depth + 1];
  if (inner === undefined) {
    copyRun(source, from, target, to, loop);
  } else if (depth + 2 === loops.length && inner.count === 2 && inner.from === 1 && inner.to === 1) {
    copyPairs(source, from, target, to, loop);
  } else if (depth + 2 === loops.length && Math.min(loop.count, inner.count) > 1 && turnsRows(loop, inner)) {
    copyTurned(source, from, target, to, loop, inner);
  } else {
    for (let i = 0; i < loop.count; i++) {
      copyLoops(source, from + i * loop.from, target, to + i * loop.to, loops, depth + 1);
    }
  }
}

/** Whether what lies together on one side lies apart on the other. */
function turnsRows(outer: Loop, inner: Loop): boolean {
  return outer.from < inner.from !== outer.to < inner.to;
}

/** Rows to columns, tile by tile, so that the lines of cache that a tile touches are used while they are there. */
function copyTurned(source: Items, from: number, target: Items, to: number, outer: Loop, inner: Loop): void {
  const { from: outerFrom, to: outerTo } = outer;
  const { from: innerFrom, to: innerTo } = inner;
  for (let i0 = 0; i0 < outer.count; i0 += TILE) {
    const iEnd = Math.min(i0 + TILE, outer.count);
    for (let j0 = 0; j0 < inner.count; j0 += TILE) {
      const jEnd = Math.min(j0 + TILE, inner.count);
      for (let i = i0; i < iEnd; i++) {
        let s = from + i * outerFrom + j0 * innerFrom;
        let t = to + i * outerTo + j0 * innerTo;
        for (let j = j0; j < jEnd; j++, s += innerFrom, t += innerTo) target[t] = source[s] as number;
      }
    }
  }
}

function copyRun(source: Items, from: number, target: Items, to: number, loop: Loop): void {
  const { count, from: fromStep, to: toStep } = loop;
  if (fromStep === 1 && toStep === 1 && count * source.BYTES_PER_ELEMENT >= LONG_RUN_BYTES) {
    target.set(source.subarray(from, from + count), to);
    return;
  }
  for (let i = 0, s = from, t = to; i < count; i++, s += fromStep, t += toStep) {
    target[t] = source[s] as number;
  }
}

/** Items of two words each, such as float64 in 32-bit words. */
function copyPairs(source: Items, from: number, target: Items, to: number, loop: Loop): void {
  const { count, from: fromStep, to: toStep } = loop;
  for (let i = 0, s = from, t = to; i < count; i++, s += fromStep, t += toStep) {
    target[t] = source[s] as number;
    target[t + 1] = source[s + 1] as number;
  }
}
