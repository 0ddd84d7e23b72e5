import { maxStoredSize } from "../../../codecs/limits.ts";
import { ByteBudget } from "../../../streams/byte-budget.ts";
import { type ChunkCodec, type ChunkRef, isSharded } from "../../../streams/chunk.ts";
import { narrowRefs } from "../../../streams/narrow-refs.ts";
import { chunkReader, readChunks } from "../../../streams/read-chunks.ts";
import { selectionWithin } from "../../../streams/selection.ts";
import { throwIfAborted } from "../../../util/abort.ts";
import { visitEach } from "../../../util/awaitable.ts";
import { inFlightOf } from "../../plan/strategies/in-flight.ts";
import { strategyNamed } from "../../plan/strategies/strategies.ts";
import { itemsOf, readsOf, type Task } from "../../plan/task.ts";
import { readScratch, scratchReader } from "../scratch/read-scratch.ts";
import type { TaskContext, TaskSource } from "./task-context.ts";
import { assertScratch } from "./task-sink.ts";

export async function taskSource(task: Task, context: TaskContext): Promise<TaskSource> {
  return inFlightOf(task).isOfSource ? chunkSource(task, context) : scratchSource(task, context);
}

async function chunkSource(task: Task, context: TaskContext): Promise<TaskSource> {
  const { source, buffers, signal, onRead, readChunks: readGiven } = context;
  const isDecoded = strategyNamed(task.job.strategy).decodes;
  const options = {
    buffers,
    signal,
    ...(isDecoded && { maxEncodedSize: maxStoredSize(await source.pipeline()) }),
    ...(onRead && { onRead }),
  };
  const refs = await chunksFor(task, source);
  if (readGiven) return readGiven(task, refs, { ...options, ...readAhead(task, context) });
  const stream = () => readChunks(source, refs, { ...options, ...readAhead(task, context) });
  if (isSharded(source)) return { stream, each: (visit) => visitEach(stream(), visit) };
  return {
    stream,
    async each(visit) {
      const read = chunkReader(source, options);
      for (const ref of refs) {
        throwIfAborted(signal);
        await visit(await read(ref, { signal }));
      }
    },
  };
}

async function scratchSource(task: Task, context: TaskContext): Promise<TaskSource> {
  const { target, buffers, signal } = context;
  const { spec } = await target.pipeline();
  const options = { scratch: assertScratch(context), chunk: spec, buffers };
  return {
    stream: () => readScratch(task, { ...options, ...readAhead(task, context), signal }),
    async each(visit) {
      const { pieces, read, chunksOf } = scratchReader(task, options);
      for (const piece of pieces) {
        throwIfAborted(signal);
        for (const chunk of chunksOf(await read(piece, { signal }))) await visit(chunk);
      }
    },
  };
}

/** Limits on reading ahead: the number of concurrent reads, and the bytes that they may buffer. */
function readAhead(task: Task, { concurrency }: TaskContext) {
  const { readAhead, bytesPerChunk } = inFlightOf(task);
  const inFlight = { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk };
  return { concurrency: Math.min(concurrency, readAhead), inFlight };
}

/** The source chunks that a task reads, reduced to the parts that it needs where parts can be decoded separately. */
async function chunksFor(task: Task, source: ChunkCodec): Promise<Iterable<ChunkRef>> {
  const { job } = task;
  const refs = readsOf(task);
  if (!strategyNamed(job.strategy).changesGrid) return refs;
  return narrowRefs(refs, selectionWithin(job.selection, itemsOf(task)), await source.pipeline());
}
