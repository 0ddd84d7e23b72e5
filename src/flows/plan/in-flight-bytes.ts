import { type ChunkSizes, pooledScratch } from "../../streams/chunk-sizes.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { readFootprint } from "../../streams/read-chunks.ts";

/** What source chunks hold between their read and their release, in bytes of pooled buffers. */
export interface InFlight {
  /** What each holds while it is read, waits, or is written. */
  readonly waiting: number;
  /** What one that codecs work on holds beside. */
  readonly working: number;
}

/** Stages take one chunk at a time; with one that each hands on, so many are decoded, or being decoded, at one time. */
const AT_WORK = 3;

/** Bytes of so many chunks in flight. */
export function bytesInFlight({ waiting, working }: InFlight, chunks: number): number {
  return chunks * waiting + Math.min(chunks, AT_WORK) * working;
}

/** The most chunks in flight within so many bytes. */
export function chunksInFlight({ waiting, working }: InFlight, bytes: number): number {
  const each = Math.floor(bytes / (waiting + working));
  return each < AT_WORK ? each : Math.floor((bytes - AT_WORK * working) / waiting);
}

/** Source chunks that are read and decoded. */
export function decodedInFlight(
  sizes: ChunkSizes & { readonly shardShape?: readonly number[] | undefined },
): InFlight {
  return {
    waiting: readFootprint(sizes, sizes.shardShape !== undefined),
    working: pooledScratch(sizes) + pooledSize(sizes.decodedSize),
  };
}
