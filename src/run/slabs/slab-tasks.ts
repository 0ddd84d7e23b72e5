import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ChunkSpec, CodecPipeline } from "../../codecs/codec.ts";
import { fillData } from "../../codecs/filled-data.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { TaskPlan } from "../../plan/plan.ts";
import type { SlabPlan } from "../../plan/slabs.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { DecodedChunk } from "../../streams/chunk.ts";
import type { OnGrowth } from "../../streams/regrid.ts";
import type { Buffers } from "../../util/bytes.ts";
import { cStrides, indexOf, product } from "../../util/shape.ts";
import { type TaskRunner, taskRunner } from "../task-runner.ts";
import { ChunkPresence, ChunkReads } from "./chunk-reads.ts";
import { GrowingSlab } from "./growing-slab.ts";
import type { GrowSlab, TakeSlab } from "./slab-queue.ts";

/**
 * Maximum number of chunks of a slab that is delivered in parts. Beyond it, chunks are tiny and the slab is delivered
 * as a whole.
 */
const MAX_CHUNKS = 2 ** 16;

/** Settings for reading slabs. */
export interface SlabReading {
  readonly array: ZarrArray;
  readonly pipeline: CodecPipeline;
  readonly plan: SlabPlan;
  readonly tasks: TaskPlan;
  readonly buffers: BufferPool;
  readonly signal: AbortSignal;
  readonly scratch?: WritableStore | undefined;
  /** Number of threads that run the tasks. */
  readonly threads?: number;
}

/**
 * Returns the tasks of a reading, each of which makes one slab: by a loop if the store has blocking calls, by streams
 * with concurrent reads otherwise.
 */
export function slabTasks({ store }: ZarrArray, plan: SlabPlan, concurrency: number): TaskPlan {
  const driver = store.getSync === undefined || plan.job.passes ? "streams" : "loop";
  return {
    jobs: [plan.job],
    stages: plan.stages,
    execution: { driver, tasksAtOnce: plan.slabsAtOnce, concurrency },
  };
}

/** Receives the slabs of a reading. */
export interface SlabTaker {
  readonly offer: TakeSlab;
  /** Called with the complete part of a slab that is read directly from a source with asynchronous calls. */
  readonly grow?: GrowSlab;
}

/** Creates a function that runs tasks of a reading and offers each slab to `taker`. */
export function slabRunner(reading: SlabReading, taker: SlabTaker): TaskRunner {
  const { array, pipeline, plan, tasks, buffers, signal, scratch, threads = 1 } = reading;
  const { slabShape, job } = plan;
  const slabs = { ...pipeline, spec: { ...pipeline.spec, shape: slabShape }, strides: cStrides(slabShape) };
  const grid = gridShape(job.target.shape, slabShape);
  // not worthwhile if the store answers synchronously
  const isAwaited = tasks.execution.driver === "streams" && !job.passes;
  const isSeenGrowing = taker.grow && isAwaited && job.chunksRead <= MAX_CHUNKS * job.tasks;
  const growing = new Map<number, GrowingSlab>();
  const onGrowth: OnGrowth = ({ coords, region, data }, items) => {
    const number = indexOf(coords, grid);
    const slab = growing.get(number) ?? new GrowingSlab(job, region);
    growing.set(number, slab);
    slab.add(items, data);
    taker.grow?.(slab, number);
  };
  const target = {
    path: array.path,
    pipeline: async () => slabs,
    take(chunk: DecodedChunk, { signal }: { readonly signal?: AbortSignal | undefined }) {
      const data = slabData(chunk, slabs.spec, buffers);
      const give = () => buffers.give(data.bytes);
      const number = indexOf(chunk.coords, grid);
      growing.delete(number);
      return taker.offer({ region: chunk.region, data }, number, give, signal);
    },
    onGrowth: isSeenGrowing ? onGrowth : undefined,
  };
  const missing = new ChunkPresence({ array, selection: job.selection, slabShape, signal });
  const readChunks = job.passes ? undefined : new ChunkReads(array, missing).read;
  const open = async () => ({ source: array, target, readChunks });
  return taskRunner({ plan: tasks, threads, open, buffers, scratch });
}

/** The items of a slab without those beyond the edge of the array, which follow them in the buffer. */
function slabData({ data, region }: DecodedChunk, spec: ChunkSpec, buffers: Buffers): ChunkData {
  const { shape } = region;
  if (data === undefined) return fillData({ ...spec, shape }, buffers);
  const items = product(shape);
  if (data.kind === "fixed")
    return { ...data, bytes: data.bytes.subarray(0, items * data.itemSize), shape, strides: cStrides(shape) };
  const offsets = data.offsets.subarray(0, items + 1);
  return { ...data, bytes: data.bytes.subarray(0, offsets[items]), offsets, shape };
}
