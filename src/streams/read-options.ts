import type { Buffers } from "../util/buffers.ts";
import type { OptionNames } from "../util/check-options.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { ByteBudget } from "./byte-budget.ts";
import type { EncodedChunk } from "./chunk.ts";

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
export function tooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the stored chunk is larger than its metadata allow", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}
