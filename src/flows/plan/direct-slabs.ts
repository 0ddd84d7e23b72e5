import type { CodecPipeline } from "../../codecs/codec.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { assertBudget } from "../../streams/budget-too-small.ts";
import { axesOver } from "../../streams/chunks-hit.ts";
import { largestPooled, pooledSize } from "../../streams/pooled-size.ts";
import { MAX_LOOKED_AT } from "../../streams/read-neighbours.ts";
import { chunksPerRequest } from "../../streams/read-together.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import { assertCountable } from "./assert-countable.ts";
import { chunkVisits } from "./chunk-visits.ts";
import { bytesInFlight, chunksInFlight, decodedInFlight, type InFlight } from "./in-flight-bytes.ts";
import { costOfSlabs, slabCostRequest } from "./slab-cost.ts";
import {
  largestSlab,
  type SlabArray,
  type SlabCandidate,
  type SlabPlan,
  type SlabRequest,
  slabItemBytes,
  slabJob,
} from "./slabs.ts";

/** Smaller slabs are not made without need, nor those of fewer chunks than so many times what is read at one time. */
const MIN_SLAB = 2 ** 20;
const CHUNKS_AHEAD = 2;
/**
 * Of a store that is waited for, the chunks in flight are those of so many slabs: while the last ones of a slab are on
 * their way, those of the next ones are, too.
 */
const SLABS_IN_FLIGHT = 4;
const MIN_FAR_SLAB = 2 ** 16;

/**
 * Slabs that are read straight from the source, each of the largest shape that fits.
 *
 * @param strategy its name, for the job of the slabs
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

/** Whether each value of a store is waited for, however near it is. */
function isWaitedFor({ store }: SlabArray): boolean {
  return store !== undefined && store.getSync === undefined;
}

/** What a slab holds at the least. */
interface SmallestSlab {
  readonly bytes: number;
  readonly chunks: number;
}

/** @param inFlight chunks that are read at one time */
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

/** The smallest of the slabs for which no chunk is read more often than for the largest: their memory is used again. */
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

/** The smallest budget within which an array can be read in slabs: one chunk in flight, and the smallest slabs. */
export function smallestSlabBudget(array: SlabArray, pipeline: CodecPipeline): number {
  return bytesInFlight(chunkInFlight(array, pipeline), 1) + 2 * pooledSize(slabItemBytes(pipeline));
}

function chunkInFlight({ shards }: SlabArray, pipeline: CodecPipeline): InFlight {
  return decodedInFlight({ ...pipeline, shardShape: shards?.chunksPerShard });
}

function countReads(selection: Selection, chunkShape: readonly number[], slab: readonly number[]) {
  return product(axesOver(selection, chunkShape).map((axis, d) => chunkVisits(axis, slab[d] ?? 1)));
}
