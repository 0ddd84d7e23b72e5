import { mostStoredBytes } from "../codecs/limits.ts";
import type { WritableStore } from "../stores/store.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { ChunkCoding, ChunkPlace, DecodedChunk, EncodedChunk } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { encodeChunks } from "../streams/encode-chunks.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regrid } from "../streams/regrid.ts";
import type { StoredValue } from "../streams/shard-output.ts";
import type { ReadableStream, TransformStream, WritableStream } from "../streams/web.ts";
import { writeChunks } from "../streams/write-chunks.ts";
import type { Buffers } from "../util/buffers.ts";
import { itemsOf, readsOf, stepsOf, type Task } from "./plan/task.ts";
import { inFlightBytes } from "./plan/task-memory.ts";

/** What a task runs with: the job's arrays, and what all tasks of a run share. */
export interface TaskContext {
  readonly source: ChunkPlace & ChunkCoding;
  readonly target: ChunkPlace<WritableStore> & ChunkCoding;
  readonly buffers: Buffers;
  /** Requests in flight. */
  readonly io: number;
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: (chunk: EncodedChunk) => void;
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
  readonly onStored?: (value: StoredValue) => void;
}

/** A task, or a step of one, as streams that are not yet connected. */
export interface TaskStages {
  readonly source: ReadableStream<EncodedChunk>;
  readonly stages: readonly TransformStream<EncodedChunk | DecodedChunk, EncodedChunk | DecodedChunk>[];
}

/** Where all steps of a task write to. */
export function taskSink(
  { job }: Task,
  { target, buffers, io, signal, onWritten, onStored }: TaskContext,
): WritableStream<EncodedChunk> {
  return writeChunks(target, {
    concurrency: io,
    buffers,
    shardBuffer: job.shardBuffer,
    signal,
    ...(onWritten && { onWritten }),
    ...(onStored && { onStored }),
  });
}

/** The stages that a step of a task needs by its strategy, from `zarrflow/streams` and nowhere else. */
export async function taskStages(task: Task, context: TaskContext): Promise<TaskStages> {
  const { source, target, buffers, io, signal, onRead, writeEmpty } = context;
  const { job } = task;
  const bytesPerChunk = inFlightBytes(job, job.strategy);
  const reads = readChunks(source, readsOf(task), {
    concurrency: Math.min(io, job.readAhead),
    inFlight: { budget: new ByteBudget(job.readAhead * bytesPerChunk), bytesPerChunk },
    ...(job.strategy !== "verbatim" && { maxEncodedSize: mostStoredBytes(await source.pipeline()) }),
    buffers,
    signal,
    ...(onRead && { onRead }),
  });
  const decode = () => decodeChunks(source, { buffers });
  const encode = () => encodeChunks(target, { buffers, ...(writeEmpty && { writeEmpty }) });
  const recut = async () => {
    const { spec, strides } = await target.pipeline();
    const { selection } = job;
    return regrid(
      { shape: job.target.shape, chunk: spec, strides },
      { selection, window: itemsOf(task), buffers },
    );
  };
  const stages = {
    verbatim: async () => [],
    transcode: async () => [decode(), encode()],
    direct: async () => [decode(), await recut(), encode()],
  };
  return { source: reads, stages: (await stages[job.strategy]()) as TaskStages["stages"] };
}

/**
 * Runs one task: the stages of its steps, one step after the other, into one sink. It may run twice; it writes the same
 * keys with the same bytes.
 *
 * @throws the first failure of any stage, as it was thrown.
 */
export async function runTask(task: Task, context: TaskContext): Promise<void> {
  const { signal } = context;
  const sink = taskSink(task, context);
  try {
    for (const step of stepsOf(task)) {
      const { source, stages } = await taskStages(step, context);
      const connected = stages.reduce<ReadableStream<EncodedChunk | DecodedChunk>>(
        (stream, stage) => stream.pipeThrough(stage),
        source,
      );
      await (connected as ReadableStream<EncodedChunk>).pipeTo(sink, { preventClose: true, signal });
    }
    await close(sink);
  } catch (error) {
    await sink.abort(error).catch(() => {});
    throw error;
  }
}

/** A stream that has failed refuses to be closed with an error of its own; `closed` tells why it failed. */
async function close(sink: WritableStream<EncodedChunk>): Promise<void> {
  const writer = sink.getWriter();
  writer.close().catch(() => {});
  try {
    await writer.closed;
  } finally {
    writer.releaseLock();
  }
}
