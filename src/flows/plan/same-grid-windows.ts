import { gridShape } from "../../meta/array-metadata.ts";
import { collectedFootprint, maxShardSize } from "../../streams/shard-output.ts";
import { product } from "../../util/shape.ts";
import { bytesInFlight, type InFlight } from "./in-flight-bytes.ts";
import { inBuffers, indexBytes, type Sides } from "./task-memory.ts";
import {
  isPutTogether,
  openShardBytes,
  readAheadWithin,
  SMALL_SHARD,
  unitOf,
  WANTED_TASK_BYTES,
  type WindowRequest,
  type Windows,
} from "./windows.ts";

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
  const unit = unitOf(target, grid);
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
