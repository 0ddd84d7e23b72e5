import type { Buffers } from "../../../util/buffers.ts";
import type { ChunkData } from "../../chunk-data.ts";

/** Moves items between whole shards and their inner chunks. */
export interface ShardBoxes {
  /** Copies the inner chunk at `coords` out of a shard, in the layout that its codecs need. */
  cut(data: ChunkData, coords: readonly number[], buffers: Buffers): ChunkData;
  /** Starts a shard to be filled with inner chunks; inner chunks that are never added read as the fill value. */
  begin(buffers: Buffers): ShardAssembly;
}

export interface ShardAssembly {
  /** Takes ownership of `data`. */
  add(data: ChunkData, coords: readonly number[]): void;
  /** Returns all items in C order, in a buffer from the pool. */
  finish(): ChunkData;
  /** Gives the buffers back; called in place of `finish`. */
  discard(): void;
}
