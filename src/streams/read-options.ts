import { MAX_TOGETHER } from "../util/byte-range.ts";
import type { Buffers } from "../util/bytes.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { OptionNames } from "../util/options.ts";
import { pooledSize } from "./buffer-pool.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { ChunkSizes, EncodedChunk } from "./chunk.ts";

export interface ReadChunksOptions {
  /** Reads in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  /**
   * Bounds the chunks that are read and not yet released. The consumer of a chunk must then call its `release`. Each
   * flow needs its own budget: chunks that a failed flow loses are never released.
   */
  readonly inFlight?: { readonly budget: ByteBudget; readonly bytesPerChunk: number } | undefined;
  /** The most bytes that one encoded chunk may have. */
  readonly maxEncodedSize?: number | undefined;
  readonly buffers?: Buffers | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called for each chunk after it was read; `bytes` is undefined for a missing chunk. */
  readonly onRead?: ((chunk: EncodedChunk) => void) | undefined;
}

export const READ_CHUNKS_OPTIONS: OptionNames<ReadChunksOptions> = {
  concurrency: true,
  inFlight: true,
  maxEncodedSize: true,
  buffers: true,
  signal: true,
  onRead: true,
};

/** The error for a stored chunk above `maxEncodedSize`. */
export function chunkTooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the stored chunk is larger than its metadata allows", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}

/** Chunks that are looked up in one shard at a time. */
export const MAX_CHUNKS = 256;
/** The most bytes of one request to a remote store; larger requests are no faster. */
const MAX_FAR_TOGETHER = 8 * 2 ** 20;
/** The most chunks of a request of more than `MAX_TOGETHER` bytes; beyond that, more concurrent requests are faster. */
const MAX_FAR_CHUNKS = 16;
/** Requests above `MAX_TOGETHER` take at most the budget divided by this, so that others can run beside them. */
const REQUESTS_AT_ONCE = 4;

interface TogetherOptions<T> {
  readonly inFlight: ReadChunksOptions["inFlight"];
  /** True if each request is a round trip over a network. */
  readonly isFar: boolean;
  /** Size of the buffer that a part is copied to, in bytes. */
  readonly bytesOf: (part: T) => number;
}

/** Decides which chunks are read in one request, and counts the leases for it. */
export interface Together<T> {
  /**
   * Leases for the bytes read and a copy of each part: at least one for each part. Their share for the decoded chunk
   * can be used too, since nothing is decoded yet.
   */
  leases(parts: readonly T[], length: number): number;
  /** True if chunks in a range of `length` bytes may be read in one request. */
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

/** The most chunks that one request reads, if chunks may be read together. */
export function chunksPerRequest(
  { maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">,
  isFar: boolean,
): number {
  const within = (bytes: number) => Math.floor(bytes / maxEncodedSize);
  const few = isFar ? Math.min(MAX_FAR_CHUNKS, within(MAX_FAR_TOGETHER)) : 0;
  return Math.max(1, few, Math.min(MAX_CHUNKS, within(MAX_TOGETHER)));
}
