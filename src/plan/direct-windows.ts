import { gridShape } from "../meta/array-metadata.ts";
import { pooledSize } from "../streams/buffer-pool.ts";
import { chunksPerShard } from "../streams/chunk.ts";
import { encodeFootprint } from "../streams/encode-chunks.ts";
import { regridFootprint } from "../streams/regrid.ts";
import { type Axis, axesOver } from "../streams/selection.ts";
import { collectedFootprint, maxShardSize } from "../streams/write-chunks.ts";
import { divisorsOf, product } from "../util/shape.ts";
import { bytesInFlight, decodedInFlight, type InFlight, inBuffers, indexBytes } from "./memory.ts";
import type { GridSide } from "./plan.ts";
import { searchWindow, windowSizes } from "./window-search.ts";
import {
  isPutTogether,
  leastSameGridBytes,
  openShardBytes,
  readAheadWithin,
  SMALL_SHARD,
  WANTED_TASK_BYTES,
  type WindowRequest,
  type Windows,
  windowUnit,
} from "./windows.ts";

/** The smallest budget for windows. */
export function leastDirectBytes(request: Omit<WindowRequest, "maxMemory">): number {
  const { target } = request.sides;
  const window = regridFootprint(target) + encodeFootprint(target);
  return leastSameGridBytes(request, ({ source }) => decodedInFlight(source)) + window;
}

/**
 * Plans windows of whole target chunks. A window is held decoded while source chunks are scattered into it. With
 * shards, it covers several small ones, or part of a large one.
 */
export function directWindows(request: WindowRequest): Windows {
  const { sides, selection } = request;
  const dimensions = axesOver(selection, sides.source.chunkShape);
  const inFlight = decodedInFlight(sides.source);
  return fitWindows(request, { dimensions, inFlight, expected: decodedInFlight(inBuffers(sides).source) });
}

/** The data that is scattered into windows: its division along each dimension, and the memory of its parts. */
export interface Scattered {
  readonly dimensions: readonly Axis[];
  readonly inFlight: InFlight;
  /** The part of this memory in pooled buffers. */
  readonly expected: InFlight;
  /** Maximum bytes of a window; by default only the budget limits it. */
  readonly windowBytes?: number;
}

/** Finds windows within the budget that need the fewest repeated reads of `scattered`. */
export function fitWindows(
  request: WindowRequest,
  { dimensions, inFlight, expected, windowBytes = Number.POSITIVE_INFINITY }: Scattered,
): Windows {
  const { sides, maxMemory } = request;
  const { target } = sides;
  const grid = gridShape(target.shape, target.chunkShape);
  const unit = windowUnit(target, grid);
  const inShard = product(chunksPerShard(target) ?? []);
  const size = maxShardSize(target);
  const isOneByOne = request.driver === "loop" && !target.shardShape && !sides.source.shardShape;
  const perChunk = isOneByOne ? pooledSize(target.decodedSize) : regridFootprint(target);
  const perCollected = perChunk + Math.ceil(collectedFootprint(target) / inShard);
  const held = encodeFootprint(target) + indexBytes(sides);
  const encoding = encodeFootprint(inBuffers(sides).target);
  const isSmall =
    target.shardShape !== undefined &&
    size <= SMALL_SHARD &&
    held + bytesInFlight(inFlight, 1) + product(unit) * perCollected + pooledSize(size) <= maxMemory / 2;
  const isWhole = target.shardShape === undefined || isSmall;
  const isCollected = isSmall || (target.shardShape !== undefined && isPutTogether(request));

  const perTarget = isSmall ? perCollected : perChunk;
  const buffer = isSmall ? 0 : openShardBytes(request);
  const least = isSmall ? product(unit) * perTarget + pooledSize(size) : perTarget;
  const readAhead = readAheadWithin(request, inFlight, maxMemory - held - buffer - least);
  const reading = bytesInFlight(inFlight, readAhead);
  const fixed = held + buffer + reading + (isSmall ? pooledSize(size) : 0);
  const splits = dimensions.map(({ step, sourceChunk }) => Math.max(1, Math.floor(sourceChunk / step)));
  const { shape, visits } = searchWindow({
    dimensions,
    chunkShape: target.chunkShape,
    grid,
    ...(target.shardShape && {
      sizes: isSmall ? sizesOfShards(target, splits, grid, unit) : sizesInShard(target, splits, grid, unit),
    }),
    maxChunks: Math.max(
      isSmall ? product(unit) : 1,
      Math.floor(Math.min(windowBytes, maxMemory - fixed) / perTarget),
    ),
    wantedChunks: Math.ceil(WANTED_TASK_BYTES / Math.max(1, target.decodedSize)),
  });
  return {
    window: isWhole ? shape : unit,
    ...(!isWhole && { step: shape }),
    ...(isCollected && { shardBuffer: size }),
    readAhead,
    leaseBytes: fixed + product(shape) * perTarget,
    expectedBytes: isOneByOne
      ? mostOpen(dimensions, target.chunkShape, shape) * perTarget +
        Math.max(bytesInFlight(expected, 1), encoding)
      : fixed -
        held -
        (reading - bytesInFlight(expected, readAhead)) +
        encoding +
        indexBytes(sides) +
        product(shape) * perTarget,
    chunksRead: visits,
  };
}

/** Maximum number of incomplete target chunks in a window while source chunks arrive one by one in C order. */
function mostOpen(
  dimensions: readonly Axis[],
  chunkShape: readonly number[],
  window: readonly number[],
): number {
  let open = 1;
  for (let d = window.length - 1; d >= 0; d--) {
    const { start, step, count, sourceChunk } = dimensions[d] ?? WHOLE;
    const chunks = window[d] ?? 1;
    const chunk = chunkShape[d] ?? 1;
    const from = start % sourceChunk;
    if (from + step * (count - 1) < sourceChunk) open *= chunks;
    else if (step === 1 && sourceChunk % chunk === 0 && from % chunk === 0)
      open *= Math.min(chunks, sourceChunk / chunk);
    // Target chunks stay open until later source chunks complete them.
    else open = Math.min(chunks, Math.ceil(sourceChunk / chunk) + 1) * product(window.slice(d + 1));
  }
  return open;
}

const WHOLE: Axis = { start: 0, step: 1, count: 1, sourceChunk: 1 };

/** Sizes of windows that consist of whole shards. */
function sizesOfShards(
  target: GridSide,
  splits: readonly number[],
  grid: readonly number[],
  unit: readonly number[],
) {
  return grid.map((n, d) => {
    const each = unit[d] ?? 1;
    const shard = each * (target.chunkShape[d] ?? 1);
    return windowSizes(Math.ceil(n / each), shard, splits[d] ?? 1).map((shards) =>
      Math.max(1, Math.min(n, shards * each)),
    );
  });
}

/** Sizes of windows that divide a shard into equal parts. Parts may differ along a dimension with a single shard. */
function sizesInShard(
  target: GridSide,
  splits: readonly number[],
  grid: readonly number[],
  unit: readonly number[],
) {
  return grid.map((n, d) => {
    const each = unit[d] ?? 1;
    const sizes = windowSizes(each, target.chunkShape[d] ?? 1, splits[d] ?? 1);
    return n <= each ? sizes : divisorsOf(each);
  });
}
