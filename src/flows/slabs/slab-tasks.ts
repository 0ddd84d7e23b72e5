import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { ChunkSpec, CodecPipeline } from "../../codecs/codec.ts";
import { fillData } from "../../codecs/filled-data.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { WritableStore } from "../../stores/store.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { DecodedChunk } from "../../streams/chunk.ts";
import type { Buffers } from "../../util/buffers.ts";
import { cStrides, indexOf, product } from "../../util/shape.ts";
import type { Driver, TaskPlan } from "../plan/plan.ts";
import type { SlabPlan } from "../plan/slabs.ts";
import { type TaskRunner, taskRunner } from "../run/executors/task-runner.ts";
import { ChunkReads } from "./chunk-reads.ts";
import type { TakeSlab } from "./slab-queue.ts";
import { MissingChunks } from "./stored-chunks.ts";

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

/** Runs tasks of a reading; each slab is handed to `takeSlab`. */
export function slabRunner(reading: SlabReading, takeSlab: TakeSlab): TaskRunner {
  const { array, pipeline, plan, driver, buffers, signal, scratch } = reading;
  const { slabShape, job } = plan;
  const slabs = { ...pipeline, spec: { ...pipeline.spec, shape: slabShape }, strides: cStrides(slabShape) };
  const grid = gridShape(job.target.shape, slabShape);
  const target = {
    path: array.path,
    pipeline: async () => slabs,
    take(chunk: DecodedChunk, { signal }: { readonly signal?: AbortSignal | undefined }) {
      const data = slabData(chunk, slabs.spec, buffers);
      const give = () => buffers.give(data.bytes);
      return takeSlab({ region: chunk.region, data }, indexOf(chunk.coords, grid), give, signal);
    },
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
