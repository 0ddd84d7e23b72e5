import { gridShape } from "../meta/array-metadata.ts";
import { chunksPerShard } from "../streams/chunk.ts";
import { chunksPerRequest } from "../streams/coalesced-reads.ts";
import { type Axis, atSeam, axesOver, chunksHit, type Selection } from "../streams/selection.ts";
import { collectedFootprint, maxShardSize } from "../streams/write-chunks.ts";
import { product } from "../util/shape.ts";
import { bytesInFlight, chunksInFlight, type InFlight, inBuffers, indexBytes, type Sides } from "./memory.ts";
import type { ArrayJob, Driver, GridSide } from "./plan.ts";

/** Tasks of tiny chunks combine enough of them for this many decoded bytes. */
export const WANTED_TASK_BYTES = 4 * 2 ** 20;
/** Several shards up to this size are collected in memory by one task. Larger shards are made one by one. */
export const SMALL_SHARD = 4 * 2 ** 20;

export interface WindowRequest {
  readonly sides: Sides;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly concurrency: number;
  /** A loop encodes and writes each chunk before the next; `streams` by default. */
  readonly driver?: Driver;
  /** Memory that an open writer of the target's store needs. */
  readonly writerBytes: number;
  /** True if source chunks are adjacent in one remote object. */
  readonly inRemoteObject?: boolean;
  /** True if a shard of the target can be written only once it is complete. */
  readonly collectsShards: boolean;
}

/** The parts of a job that determine how its tasks are split, and what they need. */
export type Windows = Pick<
  ArrayJob,
  "window" | "step" | "shardBuffer" | "readAhead" | "leaseBytes" | "expectedBytes" | "chunksRead"
>;

/** Bytes of a shard while it is made: of the buffer that collects it, or of the store's writer. */
export function openShardBytes(request: Omit<WindowRequest, "maxMemory">): number {
  const { target } = request.sides;
  if (!target.shardShape) return 0;
  return isPutTogether(request) ? collectedFootprint(target) : request.writerBytes;
}

/** True if a shard must be collected in memory, or collecting needs no more memory than streaming. */
export function isPutTogether({
  sides,
  collectsShards,
  writerBytes,
}: Omit<WindowRequest, "maxMemory">): boolean {
  return collectsShards || collectedFootprint(sides.target) <= writerBytes;
}

/** The unit of a task's window: the chunks of a shard, clipped to the grid. */
export function windowUnit(target: GridSide, grid: readonly number[]): number[] {
  const inShard = chunksPerShard(target);
  return grid.map((n, d) => Math.max(1, Math.min(n, inShard?.[d] ?? 1)));
}

/** The parts of a request that determine how many source chunks are in flight. */
interface ReadAheadRequest extends Pick<WindowRequest, "maxMemory" | "concurrency" | "inRemoteObject"> {
  readonly sides: Pick<Sides, "source">;
}

/**
 * Source chunks in flight: enough for the requests, within a quarter of the budget and the spare memory; at least
 * one.
 */
export function readAheadWithin(
  { sides, maxMemory, concurrency, inRemoteObject = false }: ReadAheadRequest,
  inFlight: InFlight,
  spare: number,
): number {
  const { source } = sides;
  const areTogether = inRemoteObject || source.shardShape !== undefined;
  const wanted = concurrency * (areTogether ? chunksPerRequest(source, inRemoteObject) : 1);
  return Math.max(1, Math.min(wanted, chunksInFlight(inFlight, Math.min(maxMemory / 4, spare))));
}

/** Computes the memory of source chunks between read and release. */
export type InFlightOf = (sides: Sides) => InFlight;

/** The smallest budget for runs of chunks. */
export function leastSameGridBytes(
  request: Omit<WindowRequest, "maxMemory">,
  inFlightOf: InFlightOf,
): number {
  return bytesInFlight(inFlightOf(request.sides), 1) + openShardBytes(request) + indexBytes(request.sides);
}

/** Plans runs of chunks that are processed one by one. Only chunks in flight and collected shards need memory. */
export function sameGridWindows(request: WindowRequest, inFlightOf: InFlightOf): Windows {
  const { sides, maxMemory } = request;
  const { target } = sides;
  const inFlight = inFlightOf(sides);
  const grid = gridShape(target.shape, target.chunkShape);
  const unit = windowUnit(target, grid);
  const shards = shardsAtOnce(request, bytesInFlight(inFlight, 1) + indexBytes(sides));
  const open = shards === undefined ? openShardBytes(request) : shards * collectedFootprint(target);
  const fixed = indexBytes(sides) + open;
  const readAhead = readAheadWithin(request, inFlight, maxMemory - fixed);
  const wanted = Math.max(readAhead, Math.ceil(WANTED_TASK_BYTES / Math.max(1, target.decodedSize)));
  const run = target.shardShape ? Math.max(1, shards ?? 1) : wanted;
  const window = runOfChunks(gridShape(grid, unit), run).map((n, d) => n * (unit[d] ?? 1));
  return {
    window,
    ...(shards !== undefined && { shardBuffer: maxShardSize(target) }),
    readAhead,
    leaseBytes: fixed + bytesInFlight(inFlight, readAhead),
    expectedBytes: fixed + bytesInFlight(inFlightOf(inBuffers(sides)), readAhead),
    chunksRead: product(grid),
  };
}

/** Number of shards that a task collects in memory; undefined if shards are streamed or there are none. */
function shardsAtOnce(request: WindowRequest, others: number): number | undefined {
  const { target } = request.sides;
  if (!target.shardShape) return undefined;
  const size = maxShardSize(target);
  const held = collectedFootprint(target);
  const spare = request.maxMemory / 2 - others;
  if (size <= SMALL_SHARD && held <= spare) {
    return Math.max(1, Math.min(Math.floor(WANTED_TASK_BYTES / size), Math.floor(spare / held)));
  }
  return isPutTogether(request) ? 1 : undefined;
}

/** Returns a box of at most `wanted` chunks, but at least one, that is contiguous in C order. */
function runOfChunks(grid: readonly number[], wanted: number): number[] {
  const box = grid.map(() => 1);
  let left = wanted;
  for (let d = grid.length - 1; d >= 0 && left > 1; d--) {
    box[d] = Math.max(1, Math.min(grid[d] ?? 1, left));
    left = Math.floor(left / (box[d] ?? 1));
  }
  return box;
}

/** Counts the source chunks of a job that contain any selected item. */
export function countSourceChunks({ selection, source }: Pick<ArrayJob, "selection" | "source">): number {
  return product(selection.shape) === 0 ? 0 : countTouched(selection, source.chunkShape);
}

/**
 * Counts the source chunks that all windows of `window` results touch along a dimension. A chunk counts once for
 * each window that touches it.
 */
export function chunkVisits(dimension: Axis, window: number): number {
  const { start, step, count, sourceChunk } = dimension;
  if (count === 0) return 0;
  const seam = atSeam(dimension);
  if (seam) {
    const { before, after } = seam;
    // the window across the seam reads a chunk that contains both ends only once
    const first = Math.floor(before.count / window) * window;
    const end = Math.min(count, first + window);
    const skipped = end - before.count;
    return (
      chunkVisits({ ...before, count: first }, window) +
      chunksHit(dimension, first, end - first).count +
      chunkVisits({ ...after, start: after.start + step * skipped, count: count - end }, window)
    );
  }
  const windows = Math.ceil(count / window);
  if (step > sourceChunk) return count;
  const from = Math.floor(start / sourceChunk);
  const to = Math.floor((start + step * (count - 1)) / sourceChunk);
  return windows + (to - from) - bordersShared(dimension, window, windows);
}

/**
 * Counts the windows, except the first one, that begin with the first result of a source chunk and so share no chunk
 * with the window before. The beginning of such a window, modulo the chunk size, is less than a step.
 */
function bordersShared({ start, step, sourceChunk }: Axis, window: number, windows: number): number {
  const stride = step * window;
  const rounded = (first: number) => floorSum({ n: windows - 1, a: stride, b: first, m: sourceChunk });
  return Number(rounded(start + stride) - rounded(start + stride - step));
}

/**
 * Sums `floor((a * i + b) / m)` over all i from 0 to n - 1, with as many iterations as Euclid's algorithm needs for
 * a and m.
 */
function floorSum(terms: { readonly n: number; readonly a: number; readonly b: number; readonly m: number }) {
  let [n, a, b, m] = [BigInt(terms.n), BigInt(terms.a), BigInt(terms.b), BigInt(terms.m)];
  let sum = 0n;
  for (;;) {
    sum += ((n * (n - 1n)) / 2n) * (a / m) + n * (b / m);
    const most = (a % m) * n + (b % m);
    if (most < m) return sum;
    [n, a, b, m] = [most / m, m, most % m, a % m];
  }
}

/** Counts the chunks of a shape that contain any item of a selection. */
export function countTouched(selection: Selection, chunkShape: readonly number[]): number {
  return product(axesOver(selection, chunkShape).map((axis) => chunkVisits(axis, Math.max(1, axis.count))));
}
