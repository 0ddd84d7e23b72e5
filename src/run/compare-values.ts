import type { ChunkData } from "../codecs/chunk-data.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { type DataType, isFixed } from "../meta/data-type.ts";
import { smallestSlabBudget } from "../plan/slabs.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import type { Region } from "../streams/chunk.ts";
import { chunkRegion, type Selection, selectionWithin, wholeSelection } from "../streams/selection.ts";
import { bytesEqual } from "../util/bytes.ts";
import { coordsAt, product } from "../util/shape.ts";
import type { ReadEvent } from "./events.ts";
import type { Slab } from "./slabs/growing-slab.ts";
import { chunkItems } from "./slabs/json-items.ts";
import { type ReadSlabsOptions, readSlabs } from "./slabs/read-slabs.ts";

/** Differences between the values of two arrays. */
export interface ValueDifference {
  /** Number of items that differ. */
  readonly count: number;
  /** Number of items compared. */
  readonly items: number;
  /** Coordinates, in the second array, of the first differing item in C order. */
  readonly first: readonly number[];
  /** Region of the first array's chunk that contains it. */
  readonly region: Region;
  /** That item in both arrays, as JSON text. */
  readonly a: string;
  readonly b: string;
}

export interface CompareOptions extends ReadSlabsOptions {
  /** Items of the first array that the second contains; by default all. */
  readonly selection?: Selection;
  /** Path of the arrays in events. */
  readonly path: string;
  /** Called with the progress of the comparison. */
  readonly onEvent?: ((event: ReadEvent) => void) | undefined;
}

/**
 * Compares an array, or a selection of it, item by item with another array of that shape and data type. Items are
 * compared by their little-endian bytes: a NaN equals itself, and 0 differs from -0. Both are read in C order, and
 * share the memory budget.
 *
 * @throws `budget-too-small` with the smallest budget for both; errors of reading and decoding.
 */
export async function compareValues(
  a: ZarrArray,
  b: ZarrArray,
  { maxMemory, path, onEvent, selection = wholeSelection(a.shape), ...options }: CompareOptions,
): Promise<ValueDifference | undefined> {
  const [needA, needB] = await Promise.all(
    [a, b].map(async (array) => smallestSlabBudget(array, await array.innerChunks().pipeline())),
  );
  const needed = (needA ?? 0) + (needB ?? 0);
  assertBudget(needed, maxMemory, a.path);
  const shareOfA = Math.floor((needA ?? 0) * (maxMemory / needed));

  const slabs = (array: ZarrArray, part: Selection, share: number) =>
    readSlabs(array, part, { ...options, threads: 1, maxMemory: share });
  const slabsOfA = slabs(a, selection, shareOfA);
  const slabsOfB = slabs(b, wholeSelection(b.shape), maxMemory - shareOfA);
  const { dataType } = a.metadata;
  const itemSize = isFixed(dataType) ? dataType.size : 1;
  const allBytes = product(b.shape) * itemSize;
  let compared = 0;
  let count = 0;
  let first: Pick<ValueDifference, "first" | "region" | "a" | "b"> | undefined;
  for await (const { left, right, items } of aligned(slabsOfA, slabsOfB)) {
    const tally = tallyDifferences(left, right, items);
    if (tally.count > 0 && first === undefined) {
      const coords = coordsAt(compared + tally.first, b.shape);
      const [textA, textB] = [left, right].map((run) => itemText(run, tally.first, dataType));
      const region = chunkHolding(a, selectionWithin(selection, { start: coords, shape: [] }).start);
      first = { first: coords, region, a: textA ?? "", b: textB ?? "" };
    }
    count += tally.count;
    compared += items;
    onEvent?.({ type: "read", path, bytes: compared * itemSize, allBytes });
  }
  return first && { count, items: compared, ...first };
}

/** Items of a slab from `from` on. */
interface Run {
  readonly data: ChunkData;
  readonly from: number;
}

/** Pairs the items of two readings in C order, split so that both runs have equal length. */
async function* aligned(
  a: AsyncGenerator<Slab>,
  b: AsyncGenerator<Slab>,
): AsyncGenerator<{ left: Run; right: Run; items: number }> {
  try {
    let [left, right]: (Run | undefined)[] = [await nextRun(a), await nextRun(b)];
    while (left && right) {
      const items = Math.min(itemsLeft(left), itemsLeft(right));
      yield { left, right, items };
      left = itemsLeft(left) > items ? { ...left, from: left.from + items } : await nextRun(a);
      right = itemsLeft(right) > items ? { ...right, from: right.from + items } : await nextRun(b);
    }
  } finally {
    await Promise.all([a.return(undefined), b.return(undefined)]);
  }
}

async function nextRun(slabs: AsyncGenerator<Slab>): Promise<Run | undefined> {
  const { done, value } = await slabs.next();
  return done ? undefined : { data: value.data, from: 0 };
}

function itemsLeft({ data, from }: Run): number {
  return product(data.shape) - from;
}

/** Counts the differing items among the next `items`, and finds the first. */
function tallyDifferences(left: Run, right: Run, items: number): { count: number; first: number } {
  let count = 0;
  let first = -1;
  const note = (item: number) => {
    if (count === 0) first = item;
    count++;
  };
  if (left.data.kind === "fixed" && right.data.kind === "fixed") {
    const { itemSize } = left.data;
    const x = left.data.bytes.subarray(left.from * itemSize, (left.from + items) * itemSize);
    const y = right.data.bytes.subarray(right.from * itemSize, (right.from + items) * itemSize);
    for (let at = 0; at < x.length; ) {
      if (x[at] === y[at]) {
        at++;
        continue;
      }
      const item = Math.floor(at / itemSize);
      note(item);
      at = (item + 1) * itemSize;
    }
    return { count, first };
  }
  for (let i = 0; i < items; i++) {
    if (!bytesEqual(itemBytes(left, i), itemBytes(right, i))) note(i);
  }
  return { count, first };
}

function itemBytes({ data, from }: Run, item: number): Uint8Array {
  const at = from + item;
  if (data.kind === "fixed") return data.bytes.subarray(at * data.itemSize, (at + 1) * data.itemSize);
  return data.bytes.subarray(data.offsets[at], data.offsets[at + 1]);
}

function itemText(run: Run, item: number, dataType: DataType): string {
  return itemJson(itemBytes(run, item), dataType);
}

/** One item as JSON text. */
export function itemJson(bytes: Uint8Array, dataType: DataType): string {
  const own = bytes.slice();
  const data: ChunkData =
    "size" in dataType
      ? { kind: "fixed", bytes: own, itemSize: dataType.size, shape: [1], strides: [1] }
      : { kind: "variable", bytes: own, offsets: Uint32Array.of(0, own.length), shape: [1] };
  return chunkItems(data, dataType).next().value ?? "";
}

function chunkHolding({ shape, chunkShape }: ZarrArray, coords: readonly number[]): Region {
  const chunk = coords.map((at, d) => Math.floor(at / (chunkShape[d] ?? 1)));
  return chunkRegion(chunk, chunkShape, shape);
}
