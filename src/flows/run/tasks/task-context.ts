import type { StoredValue, StoreOptions, WritableStore } from "../../../stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore, DecodedChunk, EncodedChunk } from "../../../streams/chunk.ts";
import type { ReadChunksOptions } from "../../../streams/read-options.ts";
import type { OnGrowth } from "../../../streams/regrid.ts";
import type { ReadableStream } from "../../../streams/web.ts";
import type { Awaitable } from "../../../util/awaitable.ts";
import type { Buffers } from "../../../util/buffers.ts";
import type { Task } from "../../plan/task.ts";

/** The environment of a task: the arrays of its job, and everything that the tasks of a run share. */
export interface TaskContext {
  readonly source: ChunkStore & ChunkCodec;
  readonly target: TaskTarget;
  /** Store of the scratch objects; required for plans of more than one stage. */
  readonly scratch?: WritableStore | undefined;
  readonly buffers: Buffers;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: (chunk: EncodedChunk) => void;
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
  readonly onStored?: (value: StoredValue) => void;
  /** Custom reader for the chunks of the source. */
  readonly readChunks?: ReadTaskChunks | undefined;
  /** True if `onStored` needs the CRC-32 of values, which only verification uses. */
  readonly checksums?: boolean;
}

export type ReadTaskChunks = (
  task: Task,
  refs: Iterable<ChunkRef>,
  options: ReadChunksOptions,
) => TaskSource<EncodedChunk>;

/** The items that a step starts with: chunks of the source, or pieces of scratch objects. */
export interface TaskSource<Item = TaskItem> {
  /** Reads several items concurrently, within the lease of the task. */
  stream(): ReadableStream<Item>;
  /** Reads one item after another, for stores where reading ahead gains nothing. */
  each(visit: (item: Item) => Awaitable<void>): Promise<void>;
}

/** The array that a task writes, or a consumer of its decoded chunks. */
export type TaskTarget = (ChunkStore<WritableStore> | ChunkTaker) & ChunkCodec;

/** Consumes the decoded chunks of an array in place of a store. */
export interface ChunkTaker {
  /** Takes ownership of the chunk's data. The task continues when the promise resolves. */
  take(chunk: DecodedChunk, context: StoreOptions): Promise<void>;
  /** Called while a chunk is incomplete; the task keeps ownership of its data. */
  readonly onGrowth?: OnGrowth | undefined;
}

export function isTaker<T extends object>(target: T | ChunkTaker): target is T & ChunkTaker {
  return "take" in target;
}

/** A chunk that passes through the stages of a task. */
export type TaskItem = EncodedChunk | DecodedChunk;
