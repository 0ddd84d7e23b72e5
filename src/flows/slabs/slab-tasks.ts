import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ChunkSpec, CodecPipeline } from "../../codecs/codec.ts";
import { fillData } from "../../codecs/filled-data.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { DecodedChunk } from "../../streams/chunk.ts";
import type { OnGrowth } from "../../streams/regrid.ts";
import type { Buffers } from "../../util/buffers.ts";
import { cStrides, indexOf, product } from "../../util/shape.ts";
import type { Driver, TaskPlan } from "../plan/plan.ts";
import type { SlabPlan } from "../plan/slabs.ts";
import { type TaskRunner, taskRunner } from "../run/executors/task-runner.ts";
import { ChunkReads } from "./chunk-reads.ts";
import { GrowingSlab } from "./growing-slab.ts";
import type { GrowSlab, TakeSlab } from "./slab-queue.ts";
import { MissingChunks } from "./stored-chunks.ts";

/** Slabs of more chunks, which are tiny then, are taken when they are whole. */
const MAX_CHUNKS = 2 ** 16;

/** What slabs are read with. */
export interface SlabReading {
  readonly array: ZarrArray;
  readonly pipeline: CodecPipeline;
  readonly plan: SlabPlan;
  readonly driver: Driver;
  readonly buffers: BufferPool;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly scratch?: WritableStore | undefined;
}

/** A loop for slabs of a store whose calls may block; several values are asked for at one time of all others. */
export function slabDriver({ store }: ZarrArray, { job }: SlabPlan): Driver {
  return store.getSync === undefined || job.passes ? "streams" : "loop";
}

/** The tasks of a reading: each makes a slab. */
export function slabTasks({
  plan,
  driver,
  concurrency,
}: Pick<SlabReading, "plan" | "driver" | "concurrency">): TaskPlan {
  return {
    jobs: [plan.job],
    stages: plan.stages,
    execution: { driver, tasksAtOnce: plan.slabsAtOnce, concurrency },
  };
}

/** Who gets the slabs of a reading. */
export interface SlabTaker {
  readonly offer: TakeSlab;
  /** Is told of what is there of slabs that are read straight from a source that is waited for. */
  readonly grow?: GrowSlab;
}

/** Runs tasks of a reading; each slab is offered to `taker`. */
export function slabRunner(reading: SlabReading, taker: SlabTaker): TaskRunner {
  const { array, pipeline, plan, driver, buffers, signal, scratch } = reading;
  const { slabShape, job } = plan;
  const slabs = { ...pipeline, spec: { ...pipeline.spec, shape: slabShape }, strides: cStrides(slabShape) };
  const grid = gridShape(job.target.shape, slabShape);
  // what answers at once is not worth it
  const isAwaited = driver === "streams" && !job.passes;
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
  const missing = new MissingChunks({ array, selection: job.selection, slabShape, signal });
  const readChunks = job.passes ? undefined : new ChunkReads(array, missing).read;
  const open = async () => ({ source: array, target, readChunks });
  return taskRunner({ plan: slabTasks(reading), threads: 1, open, driver, buffers, scratch });
}

/** The items of a slab without those beyond the edge, which lie behind them. */
function slabData({ data, region }: DecodedChunk, spec: ChunkSpec, buffers: Buffers): ChunkData {
  const { shape } = region;
  if (data === undefined) return fillData({ ...spec, shape }, buffers);
  const items = product(shape);
  if (data.kind === "fixed")
    return { ...data, bytes: data.bytes.subarray(0, items * data.itemSize), shape, strides: cStrides(shape) };
  const offsets = data.offsets.subarray(0, items + 1);
  return { ...data, bytes: data.bytes.subarray(0, offsets[items]), offsets, shape };
}
