import type { StoredValue, StoreOptions } from "../stores/store.ts";
import type { Buffers } from "../util/buffers.ts";
import type { OptionNames } from "../util/check-options.ts";
import type { EncodedChunk } from "./chunk.ts";

/** Writes chunks one by one, without a stream around it. */
export interface ChunkSink {
  /** Takes ownership of the chunk's bytes. For shards, await each write before the next one. */
  write(chunk: EncodedChunk, context: StoreOptions): Promise<void>;
  /** Finishes the output after all chunks were written. */
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

export interface WriteChunksOptions {
  /** Writes in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  readonly buffers?: Buffers | undefined;
  /** Deletes the key of a chunk without bytes, for targets that may contain an older chunk. */
  readonly removeMissing?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Bytes of the buffer in which each shard is built, to be stored in one call. Without it a shard is streamed to the
   * store, unless its index is at the start and must be complete first.
   */
  readonly shardBuffer?: number | undefined;
  /**
   * Called for each written chunk before its bytes are given back; `bytes` is undefined for a chunk that was left out.
   */
  readonly onWritten?: ((chunk: EncodedChunk & { readonly key: string }) => void) | undefined;
  /** Called for each stored value, a chunk or a shard. */
  readonly onStored?: ((value: StoredValue) => void) | undefined;
  /**
   * True if `onStored` receives the CRC-32 of values.
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
