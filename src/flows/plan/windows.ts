import { chunksPerShard } from "../../streams/chunk-sizes.ts";
import { chunksPerRequest } from "../../streams/read-together.ts";
import type { Selection } from "../../streams/selection.ts";
import { collectedFootprint } from "../../streams/shard-output.ts";
import { chunksInFlight, type InFlight } from "./in-flight-bytes.ts";
import type { ArrayJob, Driver, GridSide } from "./plan.ts";
import type { Sides } from "./task-memory.ts";

/** A task of tiny chunks takes so many that they come to this many decoded bytes. */
export const WANTED_TASK_BYTES = 4 * 2 ** 20;
/** Shards up to this size are put together in memory, several in a task; larger ones are made one by one. */
export const SMALL_SHARD = 4 * 2 ** 20;

export interface WindowRequest {
  readonly sides: Sides;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly concurrency: number;
  /** A loop encodes and writes a chunk before the next; `streams` by default. */
  readonly driver?: Driver;
  /** Bytes that a writer of the target's store holds while it is open. */
  readonly writerBytes: number;
  /** Whether source chunks lie side by side in one object far away. */
  readonly inFarObject?: boolean;
  /** Whether a shard of the target can be stored only when all of it is known. */
  readonly collectsShards: boolean;
}

/** What of a job says how its tasks are split, and what they take. */
export type Windows = Pick<
  ArrayJob,
  "window" | "step" | "shardBuffer" | "readAhead" | "leaseBytes" | "expectedBytes" | "chunksRead"
>;

/** Bytes that a shard takes while it is made: of the buffer in which it is put together, or of the store's writer. */
export function openShardBytes(request: Omit<WindowRequest, "maxMemory">): number {
  const { target } = request.sides;
  if (!target.shardShape) return 0;
  return isPutTogether(request) ? collectedFootprint(target) : request.writerBytes;
}

/** Whether a shard must be put together in memory, or that takes no more than to stream it. */
export function isPutTogether({
  sides,
  collectsShards,
  writerBytes,
}: Omit<WindowRequest, "maxMemory">): boolean {
  return collectsShards || collectedFootprint(sides.target) <= writerBytes;
}

/** What a task's window is a multiple of: the chunks of a shard, as far as the grid goes. */
export function unitOf(target: GridSide, grid: readonly number[]): number[] {
  const inShard = chunksPerShard(target);
  return grid.map((n, d) => Math.max(1, Math.min(n, inShard?.[d] ?? 1)));
}

/** Source chunks in flight: as many as requests want, within a quarter of the budget and what is spare; at least one. */
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
