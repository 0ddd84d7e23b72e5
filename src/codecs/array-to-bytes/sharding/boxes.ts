import type { Buffers } from "../../../util/buffers.ts";
import type { ChunkData } from "../../chunk-data.ts";

/** The items of whole shards, as boxes of the shape of an inner chunk. */
export interface ShardBoxes {
  /** Copies out the inner chunk at `coords`, in the layout that its codecs want. */
  cut(data: ChunkData, coords: readonly number[], buffers: Buffers): ChunkData;
  /** Begins a shard that is put together of inner chunks; those that do not come are the fill value. */
  begin(buffers: Buffers): ShardAssembly;
}

export interface ShardAssembly {
  /** Takes ownership of `data`. */
  add(data: ChunkData, coords: readonly number[]): void;
  /** The items of all, in C order, from the buffers. */
  finish(): ChunkData;
  /** Gives back what is held, instead of `finish`. */
  discard(): void;
}
