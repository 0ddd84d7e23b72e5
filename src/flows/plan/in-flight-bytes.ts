import { type ChunkSizes, pooledScratch } from "../../streams/chunk-sizes.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import { readFootprint } from "../../streams/read-chunks.ts";

/** Memory of source chunks between read and release, in bytes of pooled buffers. */
export interface InFlight {
  /** Memory of each chunk that is being read, waits, or is being written. */
  readonly waiting: number;
  /** Additional memory of a chunk that codecs are working on. */
  readonly working: number;
}

/** Maximum number of chunks being decoded or just decoded: each stage takes one chunk at a time and passes one on. */
const AT_WORK = 3;

/** Bytes of a number of chunks in flight. */
export function bytesInFlight({ waiting, working }: InFlight, chunks: number): number {
  return chunks * waiting + Math.min(chunks, AT_WORK) * working;
}

/** Maximum number of chunks in flight within a number of bytes. */
export function chunksInFlight({ waiting, working }: InFlight, bytes: number): number {
  const each = Math.floor(bytes / (waiting + working));
  return each < AT_WORK ? each : Math.floor((bytes - AT_WORK * working) / waiting);
}

/** Memory of source chunks that are read and decoded. */
export function decodedInFlight(
  sizes: ChunkSizes & { readonly shardShape?: readonly number[] | undefined },
): InFlight {
  return {
    waiting: readFootprint(sizes, sizes.shardShape !== undefined),
    working: pooledScratch(sizes) + pooledSize(sizes.decodedSize),
  };
}
