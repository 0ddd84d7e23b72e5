import { pooledParts } from "./buffer-pool.ts";

/** What a chunk takes at most, in bytes. */
export interface ChunkSizes {
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** What codecs hold at one time besides what they are given and what they give. */
  readonly scratchSize: number;
}

/** Bytes of pooled buffers between the codecs of a chain: at most two at one time. */
export function pooledScratch({ scratchSize }: Pick<ChunkSizes, "scratchSize">): number {
  return pooledParts(scratchSize, 2);
}
