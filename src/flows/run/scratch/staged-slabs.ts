import { ByteBudget } from "../../../streams/byte-budget.ts";
import { throwIfAborted } from "../../../util/abort.ts";
import { cStrides } from "../../../util/shape.ts";
import type { StagedSlabs } from "../../plan/slabs.ts";
import { type TargetTask, taskAt } from "../../plan/task.ts";
import type { SlabChunks, SlabReading } from "../../slabs/slab-reader.ts";
import { runTask } from "../tasks/run-task.ts";
import { readScratch } from "./read-scratch.ts";
import type { Scratch } from "./scratch.ts";

/** Writes all scratch objects, one after the other. Returns what reads the pieces of a slab. */
export async function readStagedSlabs(
  { job, stages, bytesPerPiece }: StagedSlabs,
  scratch: Scratch,
  { array, pipeline, plan, buffers, io, signal }: SlabReading,
): Promise<SlabChunks> {
  const { slabShape, readAhead } = plan;
  const spec = { ...pipeline.spec, shape: slabShape };
  const slabs = { ...pipeline, spec, strides: cStrides(slabShape) };
  const target = {
    store: scratch.store,
    path: job.path,
    chunkKey: () => "",
    pipeline: async () => slabs,
  };
  const context = { source: array, target, scratch: scratch.store, buffers, io, signal };
  for (const [stage, tasks] of stages.entries()) {
    for (let index = 0; index < tasks; index++) {
      throwIfAborted(signal);
      await runTask(taskAt({ jobs: [job], stages }, stage, index), context);
    }
    await scratch.removePass(stage - 1);
  }
  const inFlight = { budget: new ByteBudget(readAhead * bytesPerPiece), bytesPerChunk: bytesPerPiece };
  const options = { scratch: scratch.store, chunk: spec, concurrency: Math.min(io, readAhead), inFlight };
  return (coords, region) => {
    const window = { start: coords, shape: coords.map(() => 1) };
    const task: TargetTask = { kind: "target", number: 0, job, window };
    const part = { ...region, step: coords.map(() => 1) };
    return { chunks: readScratch(task, { ...options, buffers, signal }), part };
  };
}
