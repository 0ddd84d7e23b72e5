import { gridShape } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { largestPooled, pooledSize } from "../streams/buffer-pool.ts";
import { product } from "../util/shape.ts";
import { costOf } from "./costs.ts";
import {
  largestSlab,
  type ShapedSlabs,
  type SlabCandidate,
  type SlabRequest,
  slabCostRequest,
  slabItemBytes,
  slabJob,
} from "./slabs.ts";
import { type StagedRequest, stagedWindows } from "./staged-windows.ts";

/** Fractions of the budget, as divisors, to try for a slab made of scratch objects. */
const SLABS_IN_BUDGET = [5, 12, 30];
const MAX_PASSES = 4;

/** Yields ways to make slabs with scratch objects. @param strategy name of the strategy, for the job */
export function* stagedSlabs(request: SlabRequest, strategy: string): Generator<SlabCandidate> {
  const { pipeline, selection, array, maxMemory } = request;
  for (const parts of SLABS_IN_BUDGET) {
    const maxItems = Math.floor(largestPooled(maxMemory / parts) / Math.max(1, slabItemBytes(pipeline)));
    const slabShape = largestSlab(selection, array.metadata.chunkGrid.chunkShape, maxItems);
    yield* slabsOfShape({ ...request, slabShape }, strategy);
  }
}

/** Yields ways to make slabs of a given shape that fit the budget. */
function* slabsOfShape(request: ShapedSlabs, strategy: string): Generator<SlabCandidate> {
  const { pipeline, selection, slabShape } = request;
  const { sides } = slabCostRequest(request);
  const slabBytes = pooledSize(sides.target.decodedSize);
  // The caller uses one slab while the next is made.
  const maxMemory = request.maxMemory - slabBytes;
  const search: StagedRequest = {
    ...request,
    sides,
    maxMemory,
    writerBytes: 0,
    collectsShards: false,
    volume: slabBytes,
    maxPasses: MAX_PASSES,
    isVariable: !isFixed(pipeline.spec.dataType),
  };
  const tasks = product(gridShape(selection.shape, slabShape));
  for (const sized of stagedWindows(search)) {
    const { readAhead, leaseBytes, expectedBytes, chunksRead } = sized.windows;
    const cost = costOf({ ...slabCostRequest(request), ...sized, tasks });
    const passes = sized.passes.map((pass) => ({ ...pass, firstTask: 0 }));
    const split = { strategy, readAhead, leaseBytes, expectedBytes, chunksRead, passes, cost };
    const plan = {
      slabShape,
      slabsAtOnce: 1,
      ...slabJob(request, sides, split),
      chunksRead,
      predictedPeak: passes.reduce((most, pass) => Math.max(most, pass.leaseBytes), leaseBytes + slabBytes),
    };
    yield { plan, cost };
  }
}
