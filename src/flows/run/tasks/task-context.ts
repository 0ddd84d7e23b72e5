import type { StoredValue, StoreOptions, WritableStore } from "../../../stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore, DecodedChunk, EncodedChunk } from "../../../streams/chunk.ts";
import type { ReadChunksOptions } from "../../../streams/read-options.ts";
import type { OnGrowth } from "../../../streams/regrid.ts";
import type { ReadableStream } from "../../../streams/web.ts";
import type { Awaitable } from "../../../util/awaitable.ts";
import type { Buffers } from "../../../util/buffers.ts";
import type { Task } from "../../plan/task.ts";

/** What a task runs with: the job's arrays, and what all tasks of a run share. */
export interface TaskContext {
  readonly source: ChunkStore & ChunkCodec;
  readonly target: TaskTarget;
  /** Where scratch objects lie; needed for plans of more than one stage. */
  readonly scratch?: WritableStore | undefined;
  readonly buffers: Buffers;
  /** Requests in flight. */
  readonly concurrency: number;
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: (chunk: EncodedChunk) => void;
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
  readonly onStored?: (value: StoredValue) => void;
  /** Reads the source's chunks in a way of its own. */
  readonly readChunks?: ReadTaskChunks | undefined;
  /** Whether `onStored` gets the CRC-32 of values, which only a verification needs. */
  readonly checksums?: boolean;
}

export type ReadTaskChunks = (
  task: Task,
  refs: Iterable<ChunkRef>,
  options: ReadChunksOptions,
) => TaskSource<EncodedChunk>;

/** The items that a step of a task begins with: chunks of the source, or pieces of scratch objects. */
export interface TaskSource<Item = TaskItem> {
  /** Reads several items at one time, within the task's lease. */
  stream(): ReadableStream<Item>;
  /** Reads one item after the other, for stores from which reading ahead gains nothing. */
  each(visit: (item: Item) => Awaitable<void>): Promise<void>;
}

/** An array that a task writes, or who takes its chunks. */
export type TaskTarget = (ChunkStore<WritableStore> | ChunkTaker) & ChunkCodec;

/** Takes the chunks of an array decoded, in place of a store. */
export interface ChunkTaker {
  /** Takes ownership of the chunk's data; the task goes on when it resolves. */
  take(chunk: DecodedChunk, context: StoreOptions): Promise<void>;
  /** Called while a chunk is not whole; its data stay the task's. */
  readonly onGrowth?: OnGrowth | undefined;
}

export function isTaker<T extends object>(target: T | ChunkTaker): target is T & ChunkTaker {
  return "take" in target;
}

/** A chunk on its way through the stages of a task. */
export type TaskItem = EncodedChunk | DecodedChunk;
