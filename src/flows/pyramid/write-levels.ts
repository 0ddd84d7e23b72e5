import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ArrayWriter } from "../../hierarchy/write/array.ts";
import { writeBox } from "../../hierarchy/write/region.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { packingOf, rereadInteger } from "../../meta/conventions/cf/packing.ts";
import { FILL_VALUE_ATTRIBUTE } from "../../meta/conventions/missing-values.ts";
import { assertBudget } from "../../streams/budget-too-small.ts";
import { type BufferPool, pooledSize } from "../../streams/buffer-pool.ts";
import type { Region } from "../../streams/chunk.ts";
import { readItems } from "../../streams/read-chunks.ts";
import { selectionOf } from "../../streams/selection.ts";
import { throwIfAborted } from "../../util/abort.ts";
import type { JsonObject } from "../../util/json-value.ts";
import { coordsOf, cStrides, product } from "../../util/shape.ts";
import { chunkFootprint } from "../boxes.ts";
import { slice } from "../slice.ts";
import type { DatasetArray } from "./dataset.ts";
import { blockUnit, type LevelShape } from "./pyramid-options.ts";
import { type NumberAccess, type NumberBox, type PyramidMethod, reduceBlocks } from "./reduce-blocks.ts";

/** How the levels of one array are made within the memory budget. */
export interface LevelWindows {
  /** Items of a block in each level, along each dimension: whole chunks. */
  readonly unit: readonly number[];
  /** The highest level made directly from windows, one block from each. Higher levels are assembled from blocks. */
  readonly windowLevel: number;
  /** Items of the first level that are in memory at a time, along each dimension. */
  readonly window: readonly number[];
  readonly concurrency: number;
  readonly leaseBytes: number;
}

/**
 * Finds the largest windows that fit. A window of the first level covers one block of the highest level that fits; each
 * level above has one block in progress.
 *
 * @throws `budget-too-small` if not even one block of each level fits.
 */
export async function planLevelWindows(
  source: ZarrArray,
  levels: readonly LevelShape[],
  { chunkShape, itemSize, maxMemory, concurrency }: LevelBudget,
): Promise<LevelWindows> {
  const pipeline = await source.innerChunks().pipeline();
  const all = levels.reduce<readonly number[]>(
    (most, { factors }) => most.map((n, d) => Math.max(n, factors[d] ?? 1)),
    chunkShape.map(() => 1),
  );
  const unit = blockUnit(chunkShape, all);
  const top = levels.length - 1;
  const perChunk = chunkFootprint(pipeline) + 3 * pooledSize(product(chunkShape) * itemSize);
  // 2-byte numbers temporarily become 4-byte numbers
  const boxBytes = (shape: readonly number[]) =>
    pooledSize(product(shape) * itemSize) * (itemSize === 2 ? 3 : 1);
  const blockAt = (level: number, scale: readonly number[]) =>
    boxBytes(unit.map((n, d) => Math.min(n * (scale[d] ?? 1), levels[level]?.shape[d] ?? 1)));
  const none = unit.map(() => 1);
  const bytesFor = (k: number) => {
    const window = blockAt(0, levels[k]?.scale ?? none);
    const next =
      k > 0
        ? blockAt(
            1,
            (levels[k]?.scale ?? none).map((n, d) => n / (levels[1]?.scale[d] ?? 1)),
          )
        : 0;
    const pending = levels.slice(k + 1).reduce((sum, _, i) => sum + blockAt(k + 1 + i, none), 0);
    return window + next + pending;
  };
  assertBudget(bytesFor(0) + perChunk, maxMemory, source.path);
  let windowLevel = 0;
  while (windowLevel < top && bytesFor(windowLevel + 1) + perChunk <= maxMemory) windowLevel++;
  const left = maxMemory - bytesFor(windowLevel);
  const atOnce = Math.max(1, Math.min(concurrency, Math.floor(left / perChunk)));
  const scale = levels[windowLevel]?.scale ?? none;
  return {
    unit,
    windowLevel,
    window: unit.map((n, d) => Math.min(n * (scale[d] ?? 1), source.shape[d] ?? 1)),
    concurrency: atOnce,
    leaseBytes: bytesFor(windowLevel) + atOnce * perChunk,
  };
}

interface LevelBudget {
  /** Chunk shape of the target; of shards if there are any. */
  readonly chunkShape: readonly number[];
  readonly itemSize: number;
  readonly maxMemory: number;
  readonly concurrency: number;
}

export interface WriteLevelsOptions {
  readonly method: PyramidMethod;
  readonly numbers: NumberAccess;
  readonly windows: LevelWindows;
  readonly writeEmptyChunks: boolean;
  readonly buffers: BufferPool;
  /** Called with the number of items of the first level that were read. */
  readonly onItems: (items: number) => void;
  readonly signal?: AbortSignal | undefined;
}

interface Block {
  readonly region: Region;
  readonly bytes: Uint8Array;
}

/**
 * Writes all levels of one array in one pass over the source, each chunk once. Depth first, to keep few blocks open.
 */
export async function writeLevels(
  source: ZarrArray,
  writers: readonly ArrayWriter[],
  levels: readonly LevelShape[],
  { method, numbers, windows, writeEmptyChunks, buffers, onItems, signal }: WriteLevelsOptions,
): Promise<void> {
  const { unit, windowLevel, concurrency } = windows;
  const { itemSize, isFloat, missing } = numbers;
  const array = source.innerChunks();
  const level = (l: number): LevelShape => levels[l] as LevelShape;
  const write = (l: number, { region, bytes }: Block) => {
    const writer = writers[l] as ArrayWriter;
    const { shape } = region;
    const data = { kind: "fixed", bytes, itemSize, shape, strides: cStrides(shape) } as const;
    return writeBox(writer, region, data, { concurrency, writeEmptyChunks, buffers, signal });
  };
  const empty = (region: Region): Block => ({
    region,
    bytes: buffers.take(product(region.shape) * itemSize),
  });
  const regionAt = (l: number, coords: readonly number[], scale: readonly number[] = []): Region => {
    const start = coords.map((c, d) => c * (unit[d] ?? 1) * (scale[d] ?? 1));
    const most = level(l).shape;
    return {
      start,
      shape: start.map((from, d) => Math.min((unit[d] ?? 1) * (scale[d] ?? 1), (most[d] ?? 1) - from)),
    };
  };
  const reduceInto = (from: Block, to: Block, l: number) => {
    const { factors } = level(l);
    const start = from.region.start.map((at, d) => at / (factors[d] ?? 1) - (to.region.start[d] ?? 0));
    const items = numbers.read(to.bytes);
    reduceBlocks(
      { items: numbers.read(from.bytes), shape: from.region.shape },
      { items, shape: to.region.shape },
      start,
      { method, factors, isFloat, missing },
    );
    numbers.write(items, to.bytes);
  };

  /** Makes and writes the levels of one window, and returns its block of the last one. */
  const ofWindow = async (coords: readonly number[]): Promise<Block> => {
    const scaleTo = (l: number) => level(windowLevel).scale.map((n, d) => n / (level(l).scale[d] ?? 1));
    throwIfAborted(signal);
    const region = regionAt(0, coords, scaleTo(0));
    const data = await readItems(array, selectionOf(region), { concurrency, buffers, signal });
    let block: Block = { region, bytes: data.bytes };
    await write(0, block);
    onItems(product(region.shape));
    for (let l = 1; l <= windowLevel; l++) {
      const next = empty(regionAt(l, coords, scaleTo(l)));
      reduceInto(block, next, l);
      buffers.give(block.bytes);
      block = next;
      await write(l, block);
    }
    return block;
  };
  const made = async (l: number, coords: readonly number[]): Promise<Block> => {
    if (l === windowLevel) return ofWindow(coords);
    const block = empty(regionAt(l, coords));
    const { factors } = level(l);
    for (const within of coordsOf(factors)) {
      const child = coords.map((c, d) => c * (factors[d] ?? 1) + (within[d] ?? 0));
      const isThere = child.every((c, d) => c * (unit[d] ?? 1) < (level(l - 1).shape[d] ?? 0));
      if (!isThere) continue;
      const part = await made(l - 1, child);
      reduceInto(part, block, l);
      buffers.give(part.bytes);
    }
    await write(l, block);
    return block;
  };
  const top = levels.length - 1;
  const counts = level(top).shape.map((n, d) => Math.ceil(n / (unit[d] ?? 1)));
  for (const coords of coordsOf(counts)) buffers.give((await made(top, coords)).bytes);
}

/** Metadata of a coordinate, or of bounds, from the second level on. Integers become doubles to hold means. */
export function coordinateMetadata(metadata: ArrayMetadata, method: PyramidMethod): ArrayMetadata {
  if (metadata.dataType.kind === "float" || method === "nearest") return metadata;
  const { [FILL_VALUE_ATTRIBUTE]: _, _Unsigned: __, ...attributes } = metadata.attributes;
  return {
    ...metadata,
    attributes: attributes as JsonObject,
    dataType: { kind: "float", size: 8 },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    fillValue: { bytes: metadata.fillValue.bytes && new Uint8Array(8) },
  };
}

/** Values of a coordinate in each level: the middle of each block, or its first item. */
export async function coordinateLevels(
  { array, method = "mean", role }: DatasetArray,
  levels: readonly LevelShape[],
  { signal }: { readonly signal?: AbortSignal | undefined },
): Promise<Float64Array[]> {
  const first = await coordinateValues(array, signal);
  const made: NumberBox[] = [{ items: first, shape: array.shape }];
  for (const { shape, factors } of levels.slice(1)) {
    const from = made[made.length - 1] as NumberBox;
    const items = new Float64Array(shape.reduce((a, b) => a * b, 1));
    if (role === "bounds") joinBounds(from.items as Float64Array, items, factors[0] ?? 1);
    else
      reduceBlocks(
        from,
        { items, shape },
        shape.map(() => 0),
        { method, factors, isFloat: true, missing: [Number.NaN] },
      );
    made.push({ items, shape });
  }
  return made.map(({ items }) => items as Float64Array);
}

/** Joins bounds: from the first bound of a block's first cell to the second bound of its last cell. */
function joinBounds(from: Float64Array, to: Float64Array, factor: number): void {
  const cells = from.length / 2;
  for (let i = 0; i < to.length / 2; i++) {
    const last = Math.min(cells, (i + 1) * factor) - 1;
    to[2 * i] = from[2 * i * factor] ?? Number.NaN;
    to[2 * i + 1] = from[2 * last + 1] ?? Number.NaN;
  }
}

async function coordinateValues(array: ZarrArray, signal: AbortSignal | undefined): Promise<Float64Array> {
  const { data } = await slice(array, {}, { signal }).read();
  const { reread } = packingOf(array.metadata.dataType, array.metadata.attributes) ?? {};
  const meant = (value: number | bigint) => Number(reread ? rereadInteger(value, reread) : value);
  return Float64Array.from(data as ArrayLike<number | bigint>, meant);
}
