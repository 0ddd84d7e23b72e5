import type { ChunkData } from "../codecs/chunk-data.ts";
import type { DecodedChunk, Region } from "./chunk.ts";

/** A target chunk while its items arrive. */
export interface Assembly {
  /** Takes the items of `piece` that lie in `region` of the target; the piece stays the caller's. */
  add(piece: DecodedChunk, region: Region): void;
  /** The whole chunk's data, or undefined when nothing but missing chunks went into it. */
  finish(): ChunkData | undefined;
}
