import type { ZarrArray } from "../../hierarchy/node.ts";
import { writeBox } from "../../hierarchy/write/region.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { Region } from "../../streams/chunk.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { chunksIn } from "../../streams/regrid.ts";
import { product } from "../../util/shape.ts";
import { readBox } from "../boxes/read-box.ts";
import { boxBytes, chunkFootprint, growWindow, windowsOf } from "../boxes/windows-of.ts";
import { assertBudget } from "../plan/task-memory.ts";
import type { AppendedPair } from "./pair-arrays.ts";

/** What is written of one array: chunks that are new, and those at the old edge that get more items. */
export interface GrowingPart extends Omit<AppendedPair, "target"> {
  readonly target: ZarrArray<WritableStore>;
  /** Of the target when all is written. */
  readonly shape: readonly number[];
  readonly fresh: Region;
  readonly ragged: Region;
}

/** Divides what is appended at the first edge between chunks. */
export function growingPart(pair: AppendedPair & { readonly target: ZarrArray<WritableStore> }): GrowingPart {
  const { source, target, axis, length } = pair;
  const added = source.shape[axis] ?? 0;
  const start = target.shape.map((_, d) => (d === axis ? length : 0));
  const chunk = target.chunkShape[axis] ?? 1;
  const room = Math.min(added, Math.ceil(length / chunk) * chunk - length);
  const part = (from: number, count: number): Region => ({
    start: start.with(axis, from),
    shape: source.shape.with(axis, count),
  });
  return {
    ...pair,
    shape: target.shape.with(axis, length + added),
    ragged: part(length, room),
    fresh: part(length + room, added - room),
  };
}

/** The chunks that a region of the target touches. */
export function chunksTouched({ target }: GrowingPart, region: Region): Iterable<readonly number[]> {
  return product(region.shape) === 0 ? [] : chunksIn(region, target.chunkShape);
}

export interface WritePartOptions {
  readonly maxMemory: number;
  readonly io: number;
  readonly writeEmpty: boolean;
  readonly buffers: BufferPool;
  readonly onItems: (items: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the items of one region, window by window of whole target chunks. A chunk at the old edge is read, and its old items
 * are written back with the new ones.
 *
 * @throws `budget-too-small` when not even one target chunk fits
 */
export async function writePart(
  { path, source, target, shape, axis, length }: GrowingPart,
  region: Region,
  { maxMemory, io, writeEmpty, buffers, onItems, signal }: WritePartOptions,
): Promise<void> {
  const [from, to] = await Promise.all([source.pipeline(), target.pipeline()]);
  const unit = target.chunkShape;
  const [read, written] = [chunkFootprint(from), chunkFootprint(to) + boxBytes(unit, to)];
  assertBudget(read + written + boxBytes(unit, to), maxMemory, path);
  const half = maxMemory / 2;
  const io1 = Math.max(1, Math.min(io, Math.floor(half / (read + written))));
  const room = maxMemory - io1 * (read + written);
  const perItem = boxBytes(unit, to) / Math.max(1, product(unit));
  // buffers are rounded up by a quarter at most
  const window = growWindow(unit, region.shape, Math.floor(room / perItem / 1.25));
  const grown = {
    store: target.store,
    path: target.path,
    metadata: { ...target.metadata, shape },
    strides: undefined,
    chunkKey: (coords: readonly number[]) => target.chunkKey(coords),
    pipeline: () => target.pipeline(),
  };
  for (const box of windowsOf(region, window)) {
    const start = box.start.with(axis, (box.start[axis] ?? 0) - length);
    const data = await readBox(source, { start, shape: box.shape }, { io: io1, buffers, signal });
    await writeBox(grown, box, data, { io: io1, writeEmpty, buffers, signal });
    buffers.give(data.bytes);
    onItems(product(box.shape));
  }
}

/** Deletes the chunks that no document shows: what is left of an append that failed. */
export async function removeFresh(part: GrowingPart, io: number): Promise<void> {
  const { target, fresh } = part;
  const remove = (coords: readonly number[]) => target.store.delete(target.chunkKey(coords));
  await forEachConcurrent(chunksTouched(part, fresh), remove, { concurrency: io });
}
