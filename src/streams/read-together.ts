import { MAX_TOGETHER } from "../util/merge-ranges.ts";
import type { ChunkSizes } from "./chunk-sizes.ts";
import { pooledSize } from "./pooled-size.ts";
import type { ReadChunksOptions } from "./read-options.ts";

/** Chunks that are looked for in one shard, or beside each other, at one time. */
export const MAX_CHUNKS = 256;
/** Bytes that are read together far away, at most: more are no faster in one request. */
const MAX_FAR_TOGETHER = 8 * 2 ** 20;
/** Beyond `MAX_TOGETHER` so many chunks are read together, at most: more requests at one time are worth more. */
const MAX_FAR_CHUNKS = 16;
/** A request may take so much of what a task may have in flight, that others go on beside it. */
const REQUESTS_AT_ONCE = 4;

interface TogetherOptions<T> {
  readonly inFlight: ReadChunksOptions["inFlight"];
  /** Whether each request is a round trip over a network. */
  readonly isFar: boolean;
  /** Bytes of the buffers that a part is copied into. */
  readonly bytesOf: (part: T) => number;
}

/** What reading chunks in one request takes. */
export interface Together<T> {
  /**
   * Leases that cover what is read and a copy of each part: one for each part, and more where these are too small. What
   * a lease holds for the decoded chunk is not used yet then.
   */
  leases(parts: readonly T[], length: number): number;
  /** Whether chunks that lie in a range of so many bytes may be read in one request. */
  fits(parts: readonly T[], length: number): boolean;
}

export function together<T>({ inFlight, isFar, bytesOf }: TogetherOptions<T>): Together<T> {
  const leases = (parts: readonly T[], length: number): number => {
    if (inFlight === undefined || parts.length === 1) return parts.length;
    const bytes = parts.reduce((sum, part) => sum + pooledSize(bytesOf(part)), pooledSize(length));
    return Math.max(parts.length, Math.ceil(bytes / inFlight.bytesPerChunk));
  };
  const fits = (parts: readonly T[], length: number): boolean => {
    const isLong = length > MAX_TOGETHER;
    const isFew = parts.length <= MAX_FAR_CHUNKS && length <= MAX_FAR_TOGETHER;
    if (isLong && !(isFar && isFew && inFlight)) return false;
    if (inFlight === undefined) return true;
    const { budget, bytesPerChunk } = inFlight;
    const wanted = leases(parts, length);
    if (!isFar && wanted > parts.length) return false;
    return wanted * bytesPerChunk <= budget.limit / (isLong ? REQUESTS_AT_ONCE : 1);
  };
  return { leases, fits };
}

/** The most chunks that one request reads, where they may be read together. */
export function chunksPerRequest(
  { maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">,
  isFar: boolean,
): number {
  const within = (bytes: number) => Math.floor(bytes / maxEncodedSize);
  const few = isFar ? Math.min(MAX_FAR_CHUNKS, within(MAX_FAR_TOGETHER)) : 0;
  return Math.max(1, few, Math.min(MAX_CHUNKS, within(MAX_TOGETHER)));
}
