import { chunksPerShard } from "../../streams/chunk-sizes.ts";
import { chunksPerRequest } from "../../streams/read-together.ts";
import type { Selection } from "../../streams/selection.ts";
import { collectedFootprint } from "../../streams/shard-output.ts";
import { chunksInFlight, type InFlight } from "./in-flight-bytes.ts";
import type { ArrayJob, Driver, GridSide } from "./plan.ts";
import type { Sides } from "./task-memory.ts";

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
  readonly inFarObject?: boolean;
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
export function unitOf(target: GridSide, grid: readonly number[]): number[] {
  const inShard = chunksPerShard(target);
  return grid.map((n, d) => Math.max(1, Math.min(n, inShard?.[d] ?? 1)));
}

/**
 * Source chunks in flight: enough for the requests, within a quarter of the budget and the spare memory; at least
 * one.
 */
export function readAheadWithin(
  { sides, maxMemory, concurrency, inFarObject = false }: WindowRequest,
  inFlight: InFlight,
  spare: number,
): number {
  const { source } = sides;
  const areTogether = inFarObject || source.shardShape !== undefined;
  const wanted = concurrency * (areTogether ? chunksPerRequest(source, inFarObject) : 1);
  return Math.max(1, Math.min(wanted, chunksInFlight(inFlight, Math.min(maxMemory / 4, spare))));
}
