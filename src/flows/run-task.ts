import type { WritableStore } from "../stores/store.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { ChunkCoding, ChunkPlace, DecodedChunk, EncodedChunk } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { encodeChunks } from "../streams/encode-chunks.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regrid } from "../streams/regrid.ts";
import type { ReadableStream, TransformStream, WritableStream } from "../streams/web.ts";
import { writeChunks } from "../streams/write-chunks.ts";
import type { Buffers } from "../util/buffers.ts";
import { inFlightBytes } from "./plan/array-job.ts";
import { itemsOf, readsOf, type Task } from "./plan/task.ts";

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
}

/** A task as streams, not yet connected. */
export interface TaskStages {
  readonly source: ReadableStream<EncodedChunk>;
  readonly stages: readonly TransformStream<EncodedChunk | DecodedChunk, EncodedChunk | DecodedChunk>[];
  readonly sink: WritableStream<EncodedChunk>;
}

/** What a stored chunk may have at most, though another encoder made it larger than ours would. */
function foreignEncodedSize(maxEncodedSize: number): number {
  return 2 * maxEncodedSize + 65536;
}

/** The stages that the task's strategy needs, from `zarrflow/streams` and nowhere else. */
export async function taskStages(task: Task, context: TaskContext): Promise<TaskStages> {
  const { source, target, buffers, io, signal, onRead, onWritten, writeEmpty } = context;
  const { job } = task;
  const bytesPerChunk = inFlightBytes(job, job.strategy);
  const reads = readChunks(source, readsOf(task), {
    concurrency: Math.min(io, job.readAhead),
    inFlight: { budget: new ByteBudget(job.readAhead * bytesPerChunk), bytesPerChunk },
    ...(job.strategy !== "verbatim" && { maxEncodedSize: foreignEncodedSize(job.source.maxEncodedSize) }),
    buffers,
    signal,
    ...(onRead && { onRead }),
  });
  const sink = writeChunks(target, { concurrency: io, buffers, signal, ...(onWritten && { onWritten }) });
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
  return { source: reads, stages: (await stages[job.strategy]()) as TaskStages["stages"], sink };
}

/**
 * Runs one task: its stages, connected. It may run twice; it writes the same keys with the same bytes.
 *
 * @throws the first failure of any stage, as it was thrown.
 */
export async function runTask(task: Task, context: TaskContext): Promise<void> {
  const { source, stages, sink } = await taskStages(task, context);
  const connected = stages.reduce<ReadableStream<EncodedChunk | DecodedChunk>>(
    (stream, stage) => stream.pipeThrough(stage),
    source,
  );
  await (connected as ReadableStream<EncodedChunk>).pipeTo(sink, { signal: context.signal });
}
