import type { WritableStore } from "../../../stores/store.ts";
import type { ChunkCodec, ChunkStore, DecodedChunk, EncodedChunk } from "../../../streams/chunk.ts";
import type { StoredValue } from "../../../streams/shard-output.ts";
import type { Buffers } from "../../../util/buffers.ts";

/** What a task runs with: the job's arrays, and what all tasks of a run share. */
export interface TaskContext {
  readonly source: ChunkStore & ChunkCodec;
  readonly target: ChunkStore<WritableStore> & ChunkCodec;
  /** Where scratch objects lie; needed for plans of more than one stage. */
  readonly scratch?: WritableStore | undefined;
  readonly buffers: Buffers;
  /** Requests in flight. */
  readonly io: number;
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: (chunk: EncodedChunk) => void;
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
  readonly onStored?: (value: StoredValue) => void;
  /** Whether `onStored` gets the CRC-32 of values, which only a verification needs. */
  readonly checksums?: boolean;
}

/** A chunk on its way through the stages of a task. */
export type TaskItem = EncodedChunk | DecodedChunk;
