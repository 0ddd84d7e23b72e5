import { mostStoredBytes } from "../codecs/limits.ts";
import type { WritableStore } from "../stores/store.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { ChunkCoding, ChunkPlace, ChunkRef, DecodedChunk, EncodedChunk } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { encodeChunks } from "../streams/encode-chunks.ts";
import { partRefs } from "../streams/part-refs.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regrid } from "../streams/regrid.ts";
import { type Selection, selectionWithin, wholeSelection } from "../streams/selection.ts";
import type { StoredValue } from "../streams/shard-output.ts";
import type { ReadableStream, TransformStream, WritableStream } from "../streams/web.ts";
import { writeChunks } from "../streams/write-chunks.ts";
import type { Buffers } from "../util/buffers.ts";
import { itemsOf, readsOf, type ScratchTask, stepsOf, type Task } from "./plan/task.ts";
import { inFlightOf } from "./plan/task-memory.ts";
import { gatherPieces } from "./scratch/gather-pieces.ts";
import { readScratch, scratchPlace } from "./scratch/read-scratch.ts";

/** What a task runs with: the job's arrays, and what all tasks of a run share. */
export interface TaskContext {
  readonly source: ChunkPlace & ChunkCoding;
  readonly target: ChunkPlace<WritableStore> & ChunkCoding;
  /** Where the objects of a shuffle lie; needed for plans of more than one stage. */
  readonly scratch?: WritableStore | undefined;
  readonly buffers: Buffers;
  /** Requests in flight. */
  readonly io: number;
  readonly writeEmpty?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onRead?: (chunk: EncodedChunk) => void;
  readonly onWritten?: (chunk: EncodedChunk & { readonly key: string }) => void;
  readonly onStored?: (value: StoredValue) => void;
  /** Whether `onStored` is told the CRC-32 of values, which nothing but a verification asks for. */
  readonly checksums?: boolean;
}

/** A task, or a step of one, as streams that are not yet connected. */
export interface TaskStages {
  readonly source: ReadableStream<EncodedChunk | DecodedChunk>;
  readonly stages: readonly TransformStream<EncodedChunk | DecodedChunk, EncodedChunk | DecodedChunk>[];
}

/** Where all steps of a task write to: the target's chunks, or a scratch object. */
export function taskSink(task: Task, context: TaskContext): WritableStream<EncodedChunk> {
  const { target, buffers, io, signal, onWritten, onStored, checksums } = context;
  if (task.kind === "scratch") {
    return writeChunks(scratchPlace(task, demandScratch(context)), { concurrency: 1, buffers, signal });
  }
  return writeChunks(target, {
    concurrency: io,
    buffers,
    shardBuffer: task.job.shardBuffer,
    signal,
    checksums,
    ...(onWritten && { onWritten }),
    ...(onStored && { onStored }),
  });
}

/** The stages that a step of a task needs by its strategy, from `zarrflow/streams` but for those of scratch objects. */
export async function taskStages(task: Task, context: TaskContext): Promise<TaskStages> {
  const { source, target, buffers, writeEmpty } = context;
  const { job } = task;
  const fillMissing = job.missingChunks !== undefined;
  const decode = () => decodeChunks(source, { buffers, fillMissing });
  const encode = () => encodeChunks(target, { buffers, ...(writeEmpty && { writeEmpty }) });
  const recut = async (selection: Selection) => {
    const { spec, strides } = await target.pipeline();
    return regrid(
      { shape: job.target.shape, chunk: spec, strides },
      { selection, window: itemsOf(task), buffers },
    );
  };
  const gather = async (scattering: ScratchTask, selection: Selection) => {
    const { spec } = await target.pipeline();
    return gatherPieces(scattering, { chunk: spec, selection, buffers });
  };
  const all = wholeSelection(job.target.shape);
  const stages = async (): Promise<TaskStages["stages"][number][]> => {
    if (task.kind === "scratch") {
      return task.round === 0 ? [decode(), await gather(task, job.selection)] : [await gather(task, all)];
    }
    switch (job.strategy) {
      case "verbatim":
        return [];
      case "transcode":
        return [decode(), encode()];
      case "direct":
        return [decode(), await recut(job.selection), encode()];
      case "shuffle":
        return [await recut(all), encode()];
    }
  };
  return { source: await readsFor(task, context), stages: await stages() };
}

/** What a step of a task begins with: chunks of the source, or pieces of scratch objects. */
async function readsFor(task: Task, context: TaskContext): Promise<TaskStages["source"]> {
  const { source, target, buffers, io, signal, onRead } = context;
  const { job } = task;
  const { readAhead, bytesPerChunk, isOfSource } = inFlightOf(task);
  const options = {
    concurrency: Math.min(io, readAhead),
    inFlight: { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk },
    buffers,
    signal,
  };
  if (!isOfSource) {
    const { spec } = await target.pipeline();
    return readScratch(task, { ...options, scratch: demandScratch(context), chunk: spec });
  }
  return readChunks(source, await chunksFor(task, source), {
    ...options,
    ...(job.strategy !== "verbatim" && { maxEncodedSize: mostStoredBytes(await source.pipeline()) }),
    ...(onRead && { onRead }),
  });
}

/** The source chunks that a task reads; where parts of them can be decoded alone, no more than it takes. */
export async function chunksFor(task: Task, source: ChunkCoding): Promise<Iterable<ChunkRef>> {
  const { job } = task;
  const refs = readsOf(task);
  if (job.strategy === "verbatim" || job.strategy === "transcode") return refs;
  return partRefs(refs, selectionWithin(job.selection, itemsOf(task)), await source.pipeline());
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
    for (const step of task.kind === "scratch" ? [task] : stepsOf(task)) {
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

/** Where scratch objects lie. */
export function demandScratch({ scratch }: TaskContext): WritableStore {
  if (scratch) return scratch;
  throw new RangeError("a task of a shuffle needs a place for scratch objects");
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
