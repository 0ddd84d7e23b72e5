import type { StoreOptions, WritableStore } from "../../../stores/store.ts";
import { type ChunkStore, type DecodedChunk, isSharded } from "../../../streams/chunk.ts";
import { WritableStream } from "../../../streams/web.ts";
import { chunkSink, writeChunks } from "../../../streams/write-chunks.ts";
import type { ChunkSink, WriteChunksOptions } from "../../../streams/write-options.ts";
import type { Task } from "../../plan/task.ts";
import { scratchPlace } from "../scratch/read-scratch.ts";
import { type ChunkTaker, isTaker, type TaskContext, type TaskItem } from "./task-context.ts";

/** The destination of all steps of a task: target chunks for a store or a consumer, or a scratch object. */
export interface TaskSink {
  /** Writes several chunks concurrently. */
  stream(): WritableStream<TaskItem>;
  /** Writes one chunk after another. */
  open(): OpenSink;
  /**
   * Number of writes that a driver without streams leaves in flight while it continues. It is 0 unless the target has a
   * single writer, possibly in another thread, so that values wait their turn. All other targets of such a driver
   * answer immediately.
   */
  readonly writesAhead: number;
}

export interface OpenSink extends Pick<ChunkSink, "close" | "abort"> {
  write(item: TaskItem, context: StoreOptions): Promise<void>;
}

export function taskSink(task: Task, context: TaskContext): TaskSink {
  const { concurrency, buffers, signal, onWritten, onStored, checksums } = context;
  if (task.kind === "scratch") {
    return sinkAt(scratchPlace(task, assertScratch(context)), { concurrency: 1, buffers, signal }, 0);
  }
  const { job } = task;
  const { target } = context;
  if (isTaker(target)) return takerSink(target, signal);
  const options = {
    concurrency,
    buffers,
    shardBuffer: job.shardBuffer,
    signal,
    checksums,
    ...(onWritten && { onWritten }),
    ...(onStored && { onStored }),
  };
  const waitsItsTurn = target.store.singleWriter && !isSharded(target);
  return sinkAt(target, options, waitsItsTurn ? Math.min(concurrency, job.readAhead) : 0);
}

function sinkAt(
  place: ChunkStore<WritableStore>,
  options: WriteChunksOptions,
  writesAhead: number,
): TaskSink {
  return {
    stream: () => writeChunks(place, options),
    open: () => chunkSink(place, options),
    writesAhead,
  };
}

function takerSink(target: ChunkTaker, signal: AbortSignal | undefined): TaskSink {
  const open = () => ({
    write: (item: TaskItem) => target.take(item as DecodedChunk, { signal }),
    close: async () => {},
    abort: async () => {},
  });
  return { open, stream: () => new WritableStream(open()), writesAhead: 0 };
}

/** Returns the store of the scratch objects. */
export function assertScratch({ scratch }: TaskContext): WritableStore {
  if (scratch) return scratch;
  throw new RangeError("a task of the staged strategy needs a place for scratch objects");
}
