import type { CodecPipeline } from "../codecs/codec.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { largestPooled, pooledSize } from "../streams/buffer-pool.ts";
import { MAX_LOOKED_AT } from "../streams/read-neighbours.ts";
import { chunksPerRequest } from "../streams/read-options.ts";
import { axesOver, type Selection } from "../streams/selection.ts";
import { product } from "../util/shape.ts";
import { bytesInFlight, chunksInFlight, decodedInFlight, type InFlight } from "./memory.ts";
import { assertCountable } from "./same-arrays.ts";
import {
  costOfSlabs,
  largestSlab,
  type SlabArray,
  type SlabCandidate,
  type SlabPlan,
  type SlabRequest,
  slabCostRequest,
  slabItemBytes,
  slabJob,
} from "./slabs.ts";
import { chunkVisits } from "./windows.ts";

/**
 * Smallest slab size, and the number of chunks per slab as a multiple of those in flight, unless the budget
 * requires less.
 */
const MIN_SLAB = 2 ** 20;
const CHUNKS_AHEAD = 2;
/**
 * For stores without synchronous reads, the chunks in flight are spread over this many slabs. The reads of the next
 * slabs then continue while the last chunks of a slab arrive.
 */
const SLABS_IN_FLIGHT = 4;
const MIN_FAR_SLAB = 2 ** 16;

/**
 * Plans slabs that are read straight from the source, with the largest shape that fits or a smaller one that needs
 * no more reads.
 *
 * @param strategy name of the strategy, for the job
 * @throws `budget-too-small` with the smallest budget that works; `resource-limit`.
 */
export function directSlabPlan(request: SlabRequest, strategy: string): SlabCandidate {
  const plan = planDirect(request, strategy);
  const cost = costOfSlabs({ ...request, slabShape: plan.slabShape }, plan.chunksRead);
  return { plan, cost };
}

function planDirect(request: SlabRequest, strategy: string): SlabPlan {
  const { array, pipeline, selection, maxMemory, concurrency } = request;
  const { chunkShape } = array.metadata.chunkGrid;
  const itemSize = slabItemBytes(pipeline);
  assertBudget(smallestSlabBudget(array, pipeline), maxMemory, array.path);

  const inFarObject = array.store?.neighbours !== undefined;
  const areTogether = inFarObject || array.shards !== undefined;
  const wanted = concurrency * (areTogether ? chunksPerRequest(pipeline, inFarObject) : 1);
  const perChunk = chunkInFlight(array, pipeline);
  const inFlight = Math.max(1, Math.min(wanted, chunksInFlight(perChunk, maxMemory / 4)));
  const left = maxMemory - bytesInFlight(perChunk, inFlight);
  const whole = product(selection.shape) * itemSize;
  const most = pooledSize(whole) <= left ? left : left / 2;
  const maxItems = Math.floor(largestPooled(most) / Math.max(1, itemSize));
  const smallest = smallestSlab(request, inFlight);
  const { slabShape, chunksRead } = bestSlab(selection, chunkShape, { maxItems, itemSize, smallest });
  assertCountable({ items: product(selection.shape), chunks: chunksRead }, array.path);
  const slabs = product(gridShape(selection.shape, slabShape));
  const slabBytes = pooledSize(product(slabShape) * itemSize);
  const isAwaited = isWaitedFor(array);
  const readAhead = isAwaited ? Math.min(inFlight, Math.ceil(chunksRead / Math.max(1, slabs))) : inFlight;
  const leaseBytes = bytesInFlight(perChunk, readAhead) + slabBytes;
  const inBudget = Math.floor((maxMemory - (slabs > 1 ? slabBytes : 0)) / leaseBytes);
  const wantedAtOnce = isAwaited ? Math.ceil(inFlight / readAhead) + 1 : 1;
  const slabsAtOnce = Math.max(1, Math.min(slabs, inBudget, wantedAtOnce));
  const { sides } = slabCostRequest({ ...request, slabShape });
  const split = { strategy, readAhead, leaseBytes, expectedBytes: leaseBytes, chunksRead };
  return {
    slabShape,
    slabsAtOnce,
    ...slabJob(request, sides, split),
    chunksRead,
    predictedPeak: slabsAtOnce * leaseBytes + (slabs > slabsAtOnce ? slabBytes : 0),
  };
}

/** True if reads of a store are asynchronous, even if it is local. */
function isWaitedFor({ store }: SlabArray): boolean {
  return store !== undefined && store.getSync === undefined;
}

/** Lower bounds of a slab's size. */
interface SmallestSlab {
  readonly bytes: number;
  readonly chunks: number;
}

/** @param inFlight chunks that are read concurrently */
function smallestSlab({ array }: SlabRequest, inFlight: number): SmallestSlab {
  if (array.store?.neighbours) return { bytes: MIN_SLAB, chunks: MAX_LOOKED_AT };
  if (isWaitedFor(array)) return { bytes: MIN_FAR_SLAB, chunks: inFlight / SLABS_IN_FLIGHT };
  return { bytes: MIN_SLAB, chunks: CHUNKS_AHEAD * inFlight };
}

interface SlabSearch {
  readonly maxItems: number;
  readonly itemSize: number;
  readonly smallest: SmallestSlab;
}

/** Finds the smallest slab that needs no more reads than the largest. Small slabs reuse memory better. */
function bestSlab(
  selection: Selection,
  chunkShape: readonly number[],
  { maxItems, itemSize, smallest }: SlabSearch,
): Pick<SlabPlan, "slabShape" | "chunksRead"> {
  const measured = (items: number) => {
    const slabShape = largestSlab(selection, chunkShape, items);
    return { slabShape, chunksRead: countReads(selection, chunkShape, slabShape) };
  };
  const largest = measured(maxItems);
  const slabs = (slabShape: readonly number[]) => product(gridShape(selection.shape, slabShape));
  for (let items = Math.ceil(smallest.bytes / Math.max(1, itemSize)); items < maxItems; items *= 2) {
    const smaller = measured(items);
    const isWorthwhile = smaller.chunksRead >= slabs(smaller.slabShape) * smallest.chunks;
    if (smaller.chunksRead === largest.chunksRead && isWorthwhile) return smaller;
  }
  return largest;
}

/** The smallest budget for reading an array in slabs: one chunk in flight, and slabs of the smallest size. */
export function smallestSlabBudget(array: SlabArray, pipeline: CodecPipeline): number {
  return bytesInFlight(chunkInFlight(array, pipeline), 1) + 2 * pooledSize(slabItemBytes(pipeline));
}

function chunkInFlight({ shards }: SlabArray, pipeline: CodecPipeline): InFlight {
  return decodedInFlight({ ...pipeline, shardShape: shards?.chunksPerShard });
}

function countReads(selection: Selection, chunkShape: readonly number[], slab: readonly number[]) {
  return product(axesOver(selection, chunkShape).map((axis, d) => chunkVisits(axis, slab[d] ?? 1)));
}
