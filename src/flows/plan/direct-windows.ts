import { gridShape } from "../../meta/array-metadata.ts";
import { pooledSize } from "../../streams/buffer-pool.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import { type Axis, axesOver } from "./chunk-visits.ts";
import type { ArrayJob, Driver, GridSide } from "./plan.ts";
import {
  chunksPerRequest,
  chunksPerShard,
  collectedBytes,
  encodingBytes,
  inBuffers,
  indexBytes,
  type Sides,
  shardSize,
  sourceBytes,
  windowBytesPerChunk,
} from "./task-memory.ts";
import { searchWindow, windowSizes } from "./window-search.ts";

/** A task of tiny chunks takes so many that they come to this many decoded bytes. */
const WANTED_TASK_BYTES = 4 * 2 ** 20;
/** Shards up to this size are put together in memory, several in a task; larger ones are made one by one. */
const SMALL_SHARD = 4 * 2 ** 20;

export interface WindowRequest {
  readonly sides: Sides;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly io: number;
  /** A loop encodes and writes a chunk before the next; `streams` by default. */
  readonly driver?: Driver;
  /** Bytes that a writer of the target's store holds while it is open. */
  readonly writerBytes: number;
  /** Whether a shard of the target can be stored only when all of it is known. */
  readonly collectsShards: boolean;
}

/** What of a job says how its tasks are split, and what they take. */
export type Windows = Pick<
  ArrayJob,
  "window" | "step" | "shardBuffer" | "readAhead" | "leaseBytes" | "expectedBytes" | "chunksRead"
>;

/** The smallest budget within which runs of chunks can be made. */
export function leastSameGridBytes(
  request: Omit<WindowRequest, "maxMemory">,
  inFlightBytes: InFlight,
): number {
  return inFlightBytes(request.sides) + openShardBytes(request) + indexBytes(request.sides);
}

/** The smallest budget within which windows can be made. */
export function leastDirectBytes(request: Omit<WindowRequest, "maxMemory">): number {
  const { target } = request.sides;
  const window = windowBytesPerChunk(target) + encodingBytes(target);
  return leastSameGridBytes(request, sourceBytes) + window;
}

/** Bytes that one source chunk may hold between its read and its release. */
export type InFlight = (sides: Sides) => number;

/** Bytes that a shard takes while it is made: of the buffer in which it is put together, or of the store's writer. */
function openShardBytes(request: Omit<WindowRequest, "maxMemory">): number {
  const { target } = request.sides;
  if (!target.shardShape) return 0;
  return isPutTogether(request) ? collectedBytes(target) : request.writerBytes;
}

/** Whether a shard must be put together in memory, or that takes no more than to stream it. */
function isPutTogether({ sides, collectsShards, writerBytes }: Omit<WindowRequest, "maxMemory">): boolean {
  return collectsShards || collectedBytes(sides.target) <= writerBytes;
}

/** Runs of chunks, each handled by itself: only the chunks in flight, and shards being put together, take memory. */
export function sameGridWindows(request: WindowRequest, inFlightBytes: InFlight): Windows {
  const { sides, maxMemory } = request;
  const { target } = sides;
  const perChunk = inFlightBytes(sides);
  const grid = gridShape(target.shape, target.chunkShape);
  const unit = unitOf(target, grid);
  const shards = shardsAtOnce(request, perChunk + indexBytes(sides));
  const open = shards === undefined ? openShardBytes(request) : shards * collectedBytes(target);
  const fixed = indexBytes(sides) + open;
  const readAhead = readAheadWithin(request, perChunk, maxMemory - fixed);
  const wanted = Math.max(readAhead, Math.ceil(WANTED_TASK_BYTES / Math.max(1, target.decodedSize)));
  const run = target.shardShape ? Math.max(1, shards ?? 1) : wanted;
  const window = runOfChunks(gridShape(grid, unit), run).map((n, d) => n * (unit[d] ?? 1));
  return {
    window,
    ...(shards !== undefined && { shardBuffer: shardSize(target) }),
    readAhead,
    leaseBytes: fixed + readAhead * perChunk,
    expectedBytes: fixed + readAhead * inFlightBytes(inBuffers(sides)),
    chunksRead: product(grid),
  };
}

/** How many shards a task puts together in memory; undefined where they are streamed, or there are none. */
function shardsAtOnce(request: WindowRequest, others: number): number | undefined {
  const { target } = request.sides;
  if (!target.shardShape) return undefined;
  const size = shardSize(target);
  const held = collectedBytes(target);
  const spare = request.maxMemory / 2 - others;
  if (size <= SMALL_SHARD && held <= spare) {
    return Math.max(1, Math.min(Math.floor(WANTED_TASK_BYTES / size), Math.floor(spare / held)));
  }
  return isPutTogether(request) ? 1 : undefined;
}

/**
 * Windows of whole target chunks that are held decoded while source chunks are scattered into them: of several shards,
 * or parts of one where shards are large.
 */
export function directWindows(request: WindowRequest): Windows {
  const { sides, selection } = request;
  const perSource = sourceBytes(sides);
  const dimensions = axesOver(selection, sides.source.chunkShape);
  const inFlight = sourceBytes(inBuffers(sides));
  return fitWindows(request, { dimensions, bytes: perSource, expectedBytes: inFlight });
}

/** What is scattered into windows: how it is split along each dimension, and the bytes of a buffer for one. */
export interface Scattered {
  readonly dimensions: readonly Axis[];
  readonly bytes: number;
  /** What of these lies in buffers. */
  readonly expectedBytes: number;
  /** The most bytes of a window; the budget alone bounds it by default. */
  readonly windowBytes?: number;
}

/** Windows that fit the budget, so that the fewest of `scattered` are read twice. */
export function fitWindows(
  request: WindowRequest,
  { dimensions, bytes, expectedBytes, windowBytes = Number.POSITIVE_INFINITY }: Scattered,
): Windows {
  const { sides, maxMemory } = request;
  const { target } = sides;
  const grid = gridShape(target.shape, target.chunkShape);
  const unit = unitOf(target, grid);
  const inShard = product(chunksPerShard(target) ?? []);
  const size = shardSize(target);
  const isOneByOne = request.driver === "loop" && !target.shardShape && !sides.source.shardShape;
  const perChunk = isOneByOne ? pooledSize(target.decodedSize) : windowBytesPerChunk(target);
  const perCollected = perChunk + Math.ceil(collectedBytes(target) / inShard);
  const held = encodingBytes(target) + indexBytes(sides);
  const encoding = encodingBytes(inBuffers(sides).target);
  const isSmall =
    target.shardShape !== undefined &&
    size <= SMALL_SHARD &&
    held + bytes + product(unit) * perCollected + pooledSize(size) <= maxMemory / 2;
  const isWhole = target.shardShape === undefined || isSmall;
  const isCollected = isSmall || (target.shardShape !== undefined && isPutTogether(request));

  const perTarget = isSmall ? perCollected : perChunk;
  const buffer = isSmall ? 0 : openShardBytes(request);
  const least = isSmall ? product(unit) * perTarget + pooledSize(size) : perTarget;
  const readAhead = readAheadWithin(request, bytes, maxMemory - held - buffer - least);
  const fixed = held + buffer + readAhead * bytes + (isSmall ? pooledSize(size) : 0);
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
      ? mostOpen(dimensions, target.chunkShape, shape) * perTarget + Math.max(expectedBytes, encoding)
      : fixed -
        held -
        readAhead * (bytes - expectedBytes) +
        encoding +
        indexBytes(sides) +
        product(shape) * perTarget,
    chunksRead: visits,
  };
}

/**
 * The most target chunks of a window that have begun and are not whole, while chunks of the source come one by one in C
 * order.
 */
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
    // Those that the next source chunks will complete stay while all of these come.
    else open = Math.min(chunks, Math.ceil(sourceChunk / chunk) + 1) * product(window.slice(d + 1));
  }
  return open;
}

const WHOLE: Axis = { start: 0, step: 1, count: 1, sourceChunk: 1 };

/** What a task's window is a multiple of: the chunks of a shard, as far as the grid goes. */
function unitOf(target: GridSide, grid: readonly number[]): number[] {
  const inShard = chunksPerShard(target);
  return grid.map((n, d) => Math.max(1, Math.min(n, inShard?.[d] ?? 1)));
}

/** Windows of whole shards. */
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

/** Parts of one shard of the same size each; of any size where there is but one along a dimension. */
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

function divisorsOf(n: number): number[] {
  const small: number[] = [];
  for (let i = 1; i * i <= n; i++) if (n % i === 0) small.push(i);
  const large = small.map((i) => n / i).reverse();
  return [...new Set([...small, ...large])];
}

/** Source chunks in flight: as many as requests want, within a quarter of the budget and what is spare. */
export function readAheadWithin(
  { sides, maxMemory, io }: WindowRequest,
  perChunk: number,
  spare: number,
): number {
  const { source } = sides;
  const wanted = io * chunksPerRequest(source, source.shardShape !== undefined);
  return Math.max(1, Math.min(wanted, Math.floor(maxMemory / 4 / perChunk), Math.floor(spare / perChunk)));
}

/** Chunks of a grid in C order, as a box of at most `wanted` (but at least one). */
function runOfChunks(grid: readonly number[], wanted: number): number[] {
  const box = grid.map(() => 1);
  let left = wanted;
  for (let d = grid.length - 1; d >= 0 && left > 1; d--) {
    box[d] = Math.max(1, Math.min(grid[d] ?? 1, left));
    left = Math.floor(left / (box[d] ?? 1));
  }
  return box;
}
