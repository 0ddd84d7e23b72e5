import type { StoredValue, StoreOptions } from "../stores/store.ts";
import type { Buffers } from "../util/buffers.ts";
import type { OptionNames } from "../util/check-options.ts";
import type { EncodedChunk } from "./chunk.ts";

/** What `writeChunks` does with each chunk, without a stream around it. */
export interface ChunkSink {
  /** Takes ownership of the chunk's bytes. Where chunks lie in shards, one write ends before the next begins. */
  write(chunk: EncodedChunk, context: StoreOptions): Promise<void>;
  /** Ends what was written, when all chunks are written. */
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

export interface WriteChunksOptions {
  /** Writes in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  readonly buffers?: Buffers | undefined;
  /** Removes the key of a chunk without bytes, for targets where an older one may lie. */
  readonly removeMissing?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Bytes of the buffer in which each shard is put together, to be stored in one call. Without it a shard is streamed to
   * the store, unless its index stands at the start: then all of it must be there first.
   */
  readonly shardBuffer?: number | undefined;
  /**
   * Called for each chunk when it is written, before its bytes are given back; `bytes` are undefined for a chunk left
   * out.
   */
  readonly onWritten?: ((chunk: EncodedChunk & { readonly key: string }) => void) | undefined;
  /** Called for each value when it is stored: a chunk's, or a shard's. */
  readonly onStored?: ((value: StoredValue) => void) | undefined;
  /**
   * Whether `onStored` gets the CRC-32 of values.
   *
   * @default true
   */
  readonly checksums?: boolean | undefined;
}

export const WRITE_CHUNKS_OPTIONS: OptionNames<WriteChunksOptions> = {
  concurrency: true,
  buffers: true,
  removeMissing: true,
  signal: true,
  shardBuffer: true,
  onWritten: true,
  onStored: true,
  checksums: true,
};
